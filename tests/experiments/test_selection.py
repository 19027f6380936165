"""Which update is taken: by hand."""

import numpy as np
import pytest

from mhaug.checks import RequestError
from mhaug.experiments.selection import RULES, accuracy_by, chosen_update, smoothed, validation_by

HISTORY = {
    # a lucky spike at update 1, a plateau at the end
    "validation_accuracy": [0.1] * 10 + [0.9] + [0.1] * 89 + [0.6] * 100,
    "validation_loss": [2.0] * 150 + [1.0] * 50,
    "test_accuracy": [float(update) for update in range(200)],
}


def test_each_rule_takes_its_update():
    assert chosen_update(HISTORY, "best") == 10
    assert chosen_update(HISTORY, "smoothed") == 125  # the first window of 50 that lies in the plateau: 100..149
    assert chosen_update(HISTORY, "loss") == 175
    assert chosen_update(HISTORY, "last") == 199
    assert [accuracy_by(HISTORY, rule) for rule in RULES] == [10.0, 125.0, 175.0, 199.0]


def test_a_lucky_spike_is_worth_little_once_smoothed():
    assert validation_by(HISTORY, "best") == 0.9
    assert validation_by(HISTORY, "smoothed") == 0.6
    with pytest.raises(RequestError, match="'value' must be one of best, smoothed; got 'luck'"):
        validation_by(HISTORY, "luck")


def test_ends_are_averaged_over_what_there_is():
    assert smoothed(np.array([1.0, 2.0, 6.0]), 3).tolist() == [1.5, 3.0, 4.0]
    assert smoothed(np.array([1.0, 2.0]), 1).tolist() == [1.0, 2.0]


def test_an_unknown_rule_is_refused():
    with pytest.raises(RequestError, match="'rule' must be one of best, smoothed, loss, last; got 'luck'"):
        chosen_update(HISTORY, "luck")
