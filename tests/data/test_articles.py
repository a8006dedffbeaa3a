import random

import pytest

from cascada.core.errors import DataError
from cascada.data.articles import recover_articles

TOPICS = {
    "Steam_engine": "steam boiler piston heat pressure valve cylinder coal locomotive turbine",
    "Saint_Barth%C3%A9lemy": "island beach caribbean french harbour barthelemy gustavia tourism reef hurricane",
    "Genome": "gene dna chromosome sequence protein cell species nucleotide mutation plasmid",
    "Rhine": "river delta flow basin germany bridge tributary flood lake rhine",
}


def talk(topic, lines, draw):
    """Lines of words about one thing among words about everything."""
    common = ["the", "of", "in", "which", "what", "when", "was", "is", "a"]
    return [" ".join(draw.choices(TOPICS[topic].split(), k=5) + draw.choices(common, k=4)) for _ in range(lines)]


@pytest.mark.parametrize("seed", range(5))
def test_boundaries_are_found_where_the_topic_changes(seed):
    draw = random.Random(seed)
    lengths = {title: draw.randrange(10, 60) for title in TOPICS}
    lines = [line for title, length in lengths.items() for line in talk(title, length, draw)]
    assert recover_articles(lines, list(TOPICS)) == [title for title, length in lengths.items() for _ in range(length)]


def test_titles_tell_which_of_two_changes_counts():
    draw = random.Random(0)
    lines = [*talk("Genome", 20, draw), *talk("Rhine", 20, draw), *talk("Steam_engine", 20, draw)]
    assert recover_articles(lines, ["Rhine", "Steam engine"]).count("Steam engine") == 20
    assert recover_articles(lines, ["Genome", "Rhine"]).count("Rhine") == 40


def test_as_many_titles_as_lines_are_one_each():
    assert recover_articles(["a b", "c d", "e f"], ["X", "Y", "Z"]) == ["X", "Y", "Z"]


@pytest.mark.parametrize("titles", [[], ["A", "B", "C"]])
def test_more_articles_than_lines_are_rejected(titles):
    with pytest.raises(DataError, match=f"2 lines cannot come from {len(titles)} articles"):
        recover_articles(["a", "b"], titles)
