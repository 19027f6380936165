"""Short vectors in compiled loops, one lane a head: what a processor does to all of them at once.

numba turns a loop over eight heads into one instruction a number. A `Lanes` value sits in a register instead: `load`
it from a row of an array, use + - * / > on it, `store` it. How many lanes there are is known when the loop is
compiled: it is the length of the tuple `like`, whose numbers do not matter. (numba's cache looks at the file of the
loop alone: after a change here, delete the `.nbi` files.)
"""

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic, models, overload, register_model

# A product and a sum may be fused. Nothing else about the numbers is up to the compiler: NaN stays NaN.
FUSE = ("contract",)
_CACHE_LINE = 64  # bytes


class Lanes(types.Type):  # type: ignore[misc]
    """So many numbers of one kind. A comparison gives lanes of `boolean`."""

    def __init__(self, dtype: Any, width: int) -> None:
        self.dtype, self.width = dtype, width
        super().__init__(f"Lanes({dtype}, {width})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Lanes) -> None:
        number = ir.IntType(1) if kind.dtype == types.boolean else manager[kind.dtype].get_value_type()
        super().__init__(manager, kind, ir.VectorType(number, kind.width))


@intrinsic
def load(typing: Any, array: Any, row: Any, like: Any) -> Any:
    """Row `row` of a contiguous array that is as wide as `like` is long."""
    lanes = Lanes(array.dtype, like.count)
    _check(array)

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.load(_place(context, builder, lanes, signature, values), align=array.dtype.bitwidth // 8)

    return lanes(array, row, like), emit


@intrinsic
def store(typing: Any, array: Any, row: Any, lanes: Any) -> Any:
    """Write row `row` of a contiguous array that is as wide as `lanes`."""
    _check(array)

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        place = _place(context, builder, lanes, signature, values)
        builder.store(values[2], place, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, row, lanes), emit


@intrinsic
def prefetch(typing: Any, array: Any, row: Any, like: Any) -> Any:
    """Begin to fetch the row that `load` will read in a while."""
    lanes = Lanes(array.dtype, like.count)
    _check(array)

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        start = builder.bitcast(_place(context, builder, lanes, signature, values), byte)
        for offset in range(0, like.count * array.dtype.bitwidth // 8, _CACHE_LINE):
            place = builder.gep(start, [ir.IntType(64)(offset)])
            # to be read, kept in all caches, data
            builder.call(fetch, [place, word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(array, row, like), emit


@intrinsic
def spread(typing: Any, number: Any, like: Any) -> Any:
    """The same number in all lanes."""
    lanes = Lanes(number, like.count)

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        nothing = ir.Constant(context.get_value_type(lanes), ir.Undefined)
        first = builder.insert_element(nothing, values[0], ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), lanes.width), None)
        return builder.shuffle_vector(first, nothing, zeros)

    return lanes(number, like), emit


@intrinsic
def where(typing: Any, condition: Any, yes: Any, no: Any) -> Any:
    """`yes` where the condition holds, else `no`."""
    return yes(condition, yes, no), lambda context, builder, signature, values: builder.select(*values)


def _check(array: Any) -> None:
    if array.layout != "C":
        raise TypingError(f"lanes are rows of a contiguous array; got {array}")


def _place(context: Any, builder: Any, lanes: Lanes, signature: Any, values: Any) -> Any:
    """Where row `values[1]` of the array `values[0]` begins."""
    array = context.make_array(signature.args[0])(context, builder, values[0])
    row = context.cast(builder, values[1], signature.args[1], types.intp)
    start = builder.gep(array.data, [builder.mul(row, row.type(lanes.width))])
    return builder.bitcast(start, context.get_value_type(lanes).as_pointer())


def _provide(symbol: Any, emit: Callable[[Any, Any, Any], Any], *, compares: bool = False) -> None:
    """Let `symbol` work on two lanes of one kind."""

    @intrinsic
    def apply(typing: Any, left: Any, right: Any) -> Any:
        result = Lanes(types.boolean, left.width) if compares else left
        return result(left, right), lambda context, builder, signature, values: emit(builder, *values)

    @overload(symbol, strict=False)
    def choose(left: Any, right: Any) -> Any:
        return (lambda left, right: apply(left, right)) if isinstance(left, Lanes) and left == right else None


def _greater(builder: Any, left: Any, right: Any) -> Any:
    whole = isinstance(left.type.element, ir.IntType)
    return builder.icmp_unsigned(">", left, right) if whole else builder.fcmp_ordered(">", left, right)


_provide(operator.add, lambda builder, left, right: builder.fadd(left, right, flags=FUSE))
_provide(operator.sub, lambda builder, left, right: builder.fsub(left, right, flags=FUSE))
_provide(operator.mul, lambda builder, left, right: builder.fmul(left, right, flags=FUSE))
_provide(operator.truediv, lambda builder, left, right: builder.fdiv(left, right))
_provide(operator.gt, _greater, compares=True)
