"""The index on disk and the retriever in memory return the same passages, by BM25 and by TF-IDF."""

import pytest

from cascada.core.errors import CascadaError
from cascada.search import Index, MemoryRetriever, Passage, read_passages

TEXTS = {
    "paris.txt": "Paris is the capital of France.\n\nThe river Seine runs through the middle of Paris.",
    "york.txt": "New York is a city. The new mayor of the old York is not the mayor of New York.",
    "rain.txt": "It rained in the new town.\n\nYork was dry; a new day came.\n\nNothing else was seen there.",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture(params=["memory", "index"])
def engine(request, folder, tmp_path):
    def make(scoring="bm25"):
        if request.param == "memory":
            return MemoryRetriever(read_passages([folder]), scoring=scoring)
        index = Index(tmp_path / "made" / "index", create=True, scoring=scoring)
        index.update([folder])
        return index

    return make


@pytest.mark.parametrize("scoring", ["bm25", "tfidf"])
def test_passages_are_returned_best_first_with_their_offsets(engine, scoring):
    found = engine(scoring).retrieve("Which river runs through Paris?", 80)
    best = found[0]
    assert best.text == "The river Seine runs through the middle of Paris."
    assert best.document.endswith("paris.txt")
    assert TEXTS["paris.txt"][best.start : best.end] == best.text
    assert best.line == 3
    scores = [passage.score for passage in found]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("scoring", ["bm25", "tfidf"])
def test_no_more_passages_than_asked_for_and_none_without_a_common_word(engine, scoring):
    assert len(engine(scoring).retrieve("new york", 2)) == 2
    assert engine(scoring).retrieve("xylophone", 5) == []
    assert engine(scoring).retrieve("?! …", 5) == []


def test_a_question_is_not_parsed_as_a_query_language(engine):
    assert engine().retrieve('river AND "Paris" -Seine passage:[* TO *] ~2 \\', 5)[0].text.startswith("The river Seine")


def test_bm25_scores_on_disk_and_in_memory_are_equal(folder, tmp_path):
    index = Index(tmp_path / "index", create=True)
    index.update([folder])
    question = "Is New York the capital of France?"
    on_disk = index.retrieve(question, 10)
    in_memory = MemoryRetriever(read_passages([folder])).retrieve(question, 10)
    assert [passage.text for passage in on_disk] == [passage.text for passage in in_memory]
    # Exact for passages under 40 words: from there on tantivy rounds lengths.
    assert [passage.score for passage in on_disk] == pytest.approx([passage.score for passage in in_memory], rel=1e-5)


def test_tfidf_scores_on_disk_and_in_memory_are_equal(folder, tmp_path):
    index = Index(tmp_path / "index", create=True, scoring="tfidf")
    index.update([folder])
    question = "Who is mayor of New York?"
    in_memory = MemoryRetriever(read_passages([folder]), scoring="tfidf").retrieve(question, 10)
    assert [(passage.text, passage.score) for passage in index.retrieve(question, 10)] == [
        (passage.text, passage.score) for passage in in_memory
    ]


def test_an_unknown_scoring_is_rejected():
    with pytest.raises(CascadaError, match="The scoring is 'best'; it must be bm25 or tfidf"):
        MemoryRetriever([Passage("x", "d", 0, 1)], scoring="best")


def test_an_empty_retriever_finds_nothing():
    assert MemoryRetriever([]).retrieve("who?", 5) == []
