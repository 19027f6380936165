import pytest
import torch

from mhaug.checks import RequestError
from mhaug.rng import Streams, ordering, stream


def numbers(generator: torch.Generator) -> list[float]:
    return torch.rand(4, generator=generator).tolist()


def test_a_stream_is_found_by_seed_and_role():
    assert numbers(stream(0, "chain", 1)) == numbers(stream(0, "chain", 1))
    different = [stream(0, "chain", 1), stream(0, "chain", 2), stream(1, "chain", 1), stream(0, "split", 1)]
    assert len({tuple(numbers(each)) for each in different}) == 4


def test_an_ordering_is_the_same_on_every_machine():
    assert sorted(ordering(0, "split", size=100).tolist()) == list(range(100))
    assert ordering(0, "split", size=8).tolist() == [5, 1, 0, 3, 6, 4, 7, 2]


def test_streams_do_not_depend_on_their_number():
    few, many = Streams(5, "chain", count=2), Streams(5, "chain", count=6)
    assert torch.equal(few.uniform(3), many.uniform(3)[:2])


def test_streams_resume():
    streams = Streams(0, "chain", count=3)
    streams.uniform(7)
    state = streams.state()
    expected = streams.uniform(5)
    other = Streams(9, "chain", count=3)
    other.restore(state)
    assert torch.equal(other.uniform(5), expected)


def test_a_state_is_whole_or_refused():
    """A whole number below 2³² takes half a word: NumPy keeps the other half beside the words that are saved."""
    streams = Streams(0, "chain", count=1)
    streams.generator(0).integers(5)
    with pytest.raises(AssertionError, match="half a word is left over"):
        streams.state()
    streams.generator(0).integers(5)
    assert streams.state().shape == (1, 32)


@pytest.mark.parametrize("seed", [-1, 1.5, "0", True])
def test_bad_seeds(seed):
    with pytest.raises(RequestError, match="'seed' must be a whole number of at least 0"):
        stream(seed, "chain")
