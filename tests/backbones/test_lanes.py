"""Lanes: exp against a longer format, and what is refused."""

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from mhaug.backbones.lanes import load, store
from mhaug.backbones.lanes_exp import exp_of_negative


@pytest.mark.parametrize(("dtype", "units"), [(np.float32, 2), (np.float64, 2)])
def test_exp_is_good_to_two_units_in_the_last_place(dtype, units):
    @njit
    def exp_of_rows(rows, like):
        for row in range(len(rows)):
            store(rows, row, exp_of_negative(load(rows, row, like)))

    lowest = -87.0 if dtype == np.float32 else -700.0
    powers = np.concatenate([np.linspace(lowest, 0, 400_000), -np.logspace(-40, 1, 40_000)]).astype(dtype)
    found = powers.copy().reshape(-1, 8)
    exp_of_rows(found, (0,) * 8)
    exact = np.exp(powers.astype(np.longdouble))
    assert (np.abs(found.ravel() - exact) <= units * np.spacing(exact.astype(dtype))).all()
    edge = np.array([[0.0, -1e30, -np.inf, np.nan] * 2], dtype)
    exp_of_rows(edge, (0,) * 8)
    assert edge[0, 0] == 1.0
    assert (edge[0, 1:3] < 1e-37).all()
    assert np.isnan(edge[0, 3])


def test_lanes_are_rows_of_contiguous_arrays_only():
    @njit
    def copy(rows, like):
        store(rows, 0, load(rows, 0, like))

    with pytest.raises(TypingError, match="contiguous"):
        copy(np.zeros((4, 4)).T, (0,) * 4)
