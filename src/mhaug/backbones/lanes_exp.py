"""exp of all lanes at once: the mathematics library that a compiled loop would call takes one number at a time."""

import math
from dataclasses import dataclass
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from mhaug.backbones.lanes import FUSE


@dataclass(frozen=True)
class _Format:
    """What exp needs to know of a kind of number. ln 2 = `high` + `low`, and n·`high` has no rounding error."""

    bits: int
    digits: int
    bias: int
    terms: int  # of the series; the first one left out is below half a unit in the last place
    lowest: float  # 2ⁿ leaves the normal numbers below: exp stays what it is there, 10⁻³⁸ or 10⁻³⁰⁷
    high: float
    low: float


_FORMATS = {
    types.float32: _Format(32, 23, 127, 7, -87.0, 0.693359375, -2.1219444005469057e-4),
    types.float64: _Format(64, 52, 1023, 13, -708.0, 0.693145751953125, 1.4286068203094172e-6),
}


@intrinsic
def exp_of_negative(typing: Any, lanes: Any) -> Any:
    """exp(x) for x ≤ 0, good to two units in the last place: x = n ln 2 + r, and 2ⁿ times the series of exp(r)."""
    form = _FORMATS[lanes.dtype]

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind = context.get_value_type(lanes)
        whole = ir.VectorType(ir.IntType(form.bits), lanes.width)
        lowest, per_ln2, high, low = (
            ir.Constant(kind, [number] * lanes.width)
            for number in (form.lowest, 1.0 / math.log(2.0), -form.high, -form.low)
        )
        bias, digits = (ir.Constant(whole, [number] * lanes.width) for number in (form.bias, form.digits))
        x = builder.select(builder.fcmp_ordered("<", values[0], lowest), lowest, values[0])
        name = f"llvm.rint.v{lanes.width}f{form.bits}"
        rint = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind]), name)
        count = builder.call(rint, [builder.fmul(x, per_ln2)])
        rest = _fused(builder, count, low, _fused(builder, count, high, x))
        factors = [ir.Constant(kind, [1.0 / math.factorial(n)] * lanes.width) for n in range(form.terms + 1)]
        series = factors.pop()
        while factors:
            series = _fused(builder, series, rest, factors.pop())
        exponent = builder.shl(builder.add(builder.fptosi(count, whole), bias), digits)
        return builder.fmul(series, builder.bitcast(exponent, kind))

    return lanes(lanes), emit


def _fused(builder: Any, left: Any, right: Any, plus: Any) -> Any:
    return builder.fadd(builder.fmul(left, right, flags=FUSE), plus, flags=FUSE)
