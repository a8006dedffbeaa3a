"""The three parts of the questions, and how many questions a certificate takes."""

import numpy as np
import pytest

from cascada.acceleration.parts import Parts, check_enough
from cascada.core.errors import CascadaError


@pytest.mark.parametrize("questions", [12, 13, 14, 600])
def test_every_question_is_in_exactly_one_part(questions):
    parts = Parts.of(questions, seed=3)
    everything = np.concatenate([parts.heads, parts.plan, parts.test])
    assert sorted(everything.tolist()) == list(range(questions))
    assert max(len(parts.heads), len(parts.plan)) <= len(parts.test) <= len(parts.heads) + 1


def test_the_error_says_how_many_questions_a_certificate_takes():
    with pytest.raises(CascadaError, match=r"120 usable questions, of which 40 .* takes 59, so 175 in all"):
        check_enough(120, 0.95, 0.95)
    check_enough(175, 0.95, 0.95)
    with pytest.raises(CascadaError, match=r"takes 59"):
        check_enough(174, 0.95, 0.95)


def test_a_choice_without_a_certificate_takes_few_questions():
    check_enough(12, None, 0.95)
    with pytest.raises(CascadaError, match=r"11 usable questions; it takes at least 12"):
        check_enough(11, None, 0.95)
