import pytest

from mhaug import MHAug, aim
from mhaug.checks import RequestError
from mhaug.data.toy_graphs import planted_partition


@pytest.fixture(scope="module")
def data():
    return planted_partition(3, 60, seed=0)


@pytest.mark.parametrize(("part", "spread"), [("edges", None), ("edges", 0.2), ("nodes", 0.12)])
def test_delivers_what_is_asked(data, part, spread):
    """Law: the confirmed chains are within 0.01; a fresh run of 4 x 400 draws adds its own Monte Carlo error."""
    term = aim(data, ego_change=0.3, spread=spread, part=part)
    summary = MHAug(**{part: term}).sample(data, draws=400, chains=4, seed=99).summary()
    error = 4 * summary.quantities[f"ego_{part[:-1]}_change"].mcse
    assert abs(summary.delivered[part] - 0.3) < 0.01 + error
    if spread is not None:
        assert abs(summary.delivered_spread[part] - spread) < 0.015


def test_mu_is_not_what_is_delivered(data):
    assert abs(aim(data, ego_change=0.3).strength - 0.3) > 0.01


def test_out_of_reach_says_what_is_near(data):
    with pytest.raises(RequestError, match=r"with spread 0.01 is out of reach.*delivered is ego_change"):
        aim(data, ego_change=0.3, spread=0.01)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"ego_change": 1.5}, "'ego_change'"), ({"spread": 0.0}, "'spread'"), ({"part": "x"}, "'part' must be one of")],
)
def test_bad_requests(data, options, words):
    with pytest.raises(RequestError, match=words):
        aim(data, **options)
