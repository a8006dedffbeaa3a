"""Words of a text, and natural text from tokenised text."""

import pytest

from cascada.text.words import detokenise, normalise, words


def test_words_are_runs_of_letters_and_digits_in_lower_case():
    assert words("Levi's Stadium, 24–10 (ÉTÉ)!") == ["levi", "s", "stadium", "24", "10", "été"]
    assert normalise("  Who won?\n") == normalise("who-won") == "who won"


WRITTEN = {
    "-lrb- afc -rrb- , it": "(afc), it",
    "-LSB- 1 -RSB- and -lcb- x -rcb-": "[1] and {x}",
    "the `` golden anniversary '' with": 'the "golden anniversary" with',
    "declared it `` outstanding ? ''": 'declared it "outstanding?"',
    "levi 's stadium": "levi's stadium",
    "they do n't , they 're": "they don't, they're",
    "the panthers ' defense": "the panthers' defense",
    "called ` new buddhism ' -rrb- ": "called 'new buddhism')",
    "won 24 -- 10 , the first -- and last": "won 24–10, the first – and last",
    "for $ 5 million , 50 % more": "for $5 million, 50% more",
    "held in the u.s. .": "held in the u.s.",
    "why ... ?": "why...?",
    "  much   space ": "much space",
}


@pytest.mark.parametrize(("tokenised", "natural"), WRITTEN.items())
def test_text_is_written_as_people_write_it(tokenised, natural):
    assert detokenise(tokenised) == natural


def test_natural_text_stays_as_it_is():
    text = "Levi's Stadium (Santa Clara), isn't it \"new\"? 24–10."
    assert detokenise(text) == text
