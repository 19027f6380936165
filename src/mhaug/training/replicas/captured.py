"""A step as one CUDA graph: recorded once, replayed without Python or launches in the way."""

from collections.abc import Callable

import torch

EAGER_STEPS = 3  # real steps before the recording: libraries and caches are ready then, and shapes known


def captured(step: Callable[[], None]) -> Callable[[], None]:
    """Record `step` and give back its replay. It must not wait for the host, and its shapes must never change."""
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        step()
    replay: Callable[[], None] = graph.replay
    return replay
