import pytest
import torch

from mhaug import NodeClassifier, load_dataset
from mhaug.threads import SMALL, threads_for


@pytest.fixture
def three_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


def test_one_thread_for_a_small_graph_alone(three_threads):
    with threads_for(SMALL):
        assert torch.get_num_threads() == 3
    with threads_for(SMALL - 1):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 3


def test_threads_are_put_back_after_an_error(three_threads):
    with pytest.raises(RuntimeError, match="in the middle"), threads_for(SMALL - 1):
        raise RuntimeError("in the middle")
    assert torch.get_num_threads() == 3


def test_a_fit_takes_one_thread_on_a_small_graph(three_threads):
    seen = []
    clf = NodeClassifier("vanilla", max_updates=2)
    clf.fit(load_dataset("planted-partition"), report=lambda _: seen.append(torch.get_num_threads()))
    assert seen == [1, 1]
    assert torch.get_num_threads() == 3
