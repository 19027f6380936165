"""The one wording of every refusal."""

import pytest

from mhaug import checks
from mhaug.checks import RequestError

NAMES = ["max_updates", "max_steps", "dropout"]


def test_a_refusal_says_name_rule_and_value():
    with pytest.raises(RequestError, match=r"^'rate' must be a number in \[0, 1\]; got 2$"):
        checks.number_in(2, "rate", 0.0, 1.0)


@pytest.mark.parametrize(("word", "meant"), [("max_update", "max_updates"), ("drop_out", "dropout"), ("x", None)])
def test_a_word_that_is_nearly_right_gets_a_guess(word, meant):
    with pytest.raises(RequestError) as refusal:
        checks.one_of(word, "setting", NAMES)
    ending = f" (did you mean '{meant}'?)" if meant else ""
    assert str(refusal.value) == f"'setting' must be one of max_updates, max_steps, dropout; got '{word}'{ending}"


@pytest.mark.parametrize("value", [3, None, ["dropout"]])
def test_what_is_no_word_gets_none(value):
    with pytest.raises(RequestError, match=r"got [^(]*$"):
        checks.one_of(value, "setting", NAMES)


def test_names_that_the_user_knows():
    def refused(name):
        with pytest.raises(RequestError) as wrong, checks.called(strength="edge_strength"):
            checks.require(False, name, "less", 2)
        return str(wrong.value)

    assert refused("strength") == "'edge_strength' must be less; got 2"
    assert refused("hops") == "'hops' must be less; got 2"
