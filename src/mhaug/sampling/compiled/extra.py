"""Compiled loops for a target with a term of the user's own: the same loops, with that term's functions in them."""

import types
from collections.abc import Callable
from typing import Any

from numba import njit

from mhaug.sampling.compiled import steps
from mhaug.sampling.terms import CompiledTerm

Loops = dict[str, Callable[..., Any]]
_REBUILT = ("propose_resample", "keep_or_undo", "flip", "swap", "run_round", "place")
_known: dict[tuple[types.CodeType, ...], Loops] = {}


def loops_with(term: CompiledTerm) -> Loops:
    """The loops of `steps.py` compiled anew with this term, once in a process.

    Not cached on disk, where nothing would notice a change of the term's code.
    """
    functions = {f"extra_{name}": getattr(term, name) for name in ("fill", "gain", "apply")}
    # functions with the same code and no captured values are the same function
    shareable = all(function.__closure__ is None for function in functions.values())
    key = tuple(function.__code__ for function in functions.values())
    if shareable and key in _known:
        return _known[key]
    scope = {**vars(steps), **{name: njit(nogil=True)(function) for name, function in functions.items()}}
    for name in _REBUILT:
        code = getattr(steps, name).py_func.__code__
        scope[name] = njit(nogil=True)(types.FunctionType(code, scope, name))
    loops = {name: scope[name] for name in _REBUILT}
    if shareable:
        _known[key] = loops
    return loops
