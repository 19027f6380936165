"""Which code runs the chains: torch on any device, numba on the CPU. One meaning, two implementations."""

import warnings
from importlib.util import find_spec

from mhaug import checks
from mhaug.checks import RequestError
from mhaug.sampling.chain import Chain
from mhaug.sampling.setup import Setup

BACKENDS = ("auto", "torch", "numba")
_warned = False


def new_chain(setup: Setup, *, backend: str, seed: int) -> Chain:
    """Chains at their starts, on the backend of this name."""
    on_cpu = setup.graph.unit_edges.device.type == "cpu"
    if backend == "numba" and not on_cpu:
        raise RequestError("'backend' must be 'torch' or 'auto' for a graph that is not on the CPU; got 'numba'")
    if setup.per_chain:
        rule = "'resample' where chains have settings of their own"
        checks.require(setup.moves == "resample" and backend != "numba", "moves", f"{rule}, on torch", setup.moves)
        backend = "torch"
    edges = setup.targets.get("edges")
    compiles = edges is None or edges.extra is None or edges.extra.compiled() is not None
    if backend != "torch" and on_cpu and compiles and _has_numba():
        from mhaug.sampling.compiled.chain import CompiledChain

        return CompiledChain(setup, seed=seed)
    from mhaug.sampling.torch_chain import TorchChain

    return TorchChain(setup, seed=seed)


def _has_numba() -> bool:
    """Whether numba can be imported; says so once if not."""
    global _warned
    try:
        found = find_spec("numba") is not None
    except ValueError:  # a module that was set to None
        found = False
    if not found and not _warned:
        _warned = True
        warnings.warn("numba is not installed: chains run on torch, local moves slowly", RuntimeWarning, stacklevel=4)
    return found
