"""The fixed pattern of a sparse matrix: where entries are, never what they are.

Made once; values come and go. The transposed pattern is kept beside it, so that Aᵀ needs only `values[order]`.
"""

from dataclasses import dataclass, field, fields, replace
from typing import Any

import torch
from torch import Tensor

# Compressed rows in 32 bits are a quarter faster on a CPU; longer patterns keep 64.
_SHORT_LIMIT = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Structure:
    """A pattern in compressed rows. Repeated (row, column) pairs are entries of their own.

    Entry e lies at (`rows[e]`, `columns[e]`); row i owns the entries `pointers[i]` to `pointers[i + 1] - 1`.
    Entry e of the transposed pattern is entry `order[e]` of this one.
    """

    shape: tuple[int, int]
    pointers: Tensor
    rows: Tensor
    columns: Tensor
    transposed_pointers: Tensor
    transposed_columns: Tensor
    order: Tensor
    _blocks: dict[int, tuple["Structure", Tensor]] = field(default_factory=dict, repr=False)

    @property
    def num_entries(self) -> int:
        return self.columns.shape[0]

    def row_sums(self, values: Tensor) -> Tensor:
        """Sum of the values [E, ...] in each row; 0 in an empty row. Differentiable, and the same bits every time."""
        return torch.segment_reduce(values, "sum", offsets=self.pointers, initial=0.0, unsafe=True)

    def column_sums(self, values: Tensor) -> Tensor:
        """Sum of the values in each column; 0 in an empty column."""
        ordered = values.index_select(0, self.order)
        return torch.segment_reduce(ordered, "sum", offsets=self.transposed_pointers, initial=0.0, unsafe=True)

    def row_maxima(self, values: Tensor) -> Tensor:
        """Largest value in each row; minus infinity in an empty row."""
        return torch.segment_reduce(values, "max", offsets=self.pointers, unsafe=True)

    def blocks(self, count: int) -> tuple["Structure", Tensor]:
        """The same pattern `count` times as one block structure, made on first use; and where its values come from.

        Row i·n + c is row i of copy c, and columns likewise: a [V, n, D] tensor is then a [V·n, D] matrix without a
        moved byte, and a product for n copies is the plain one on a larger graph. Values [E, n], flattened, are
        brought into the order of the blocks by the second tensor.
        """
        if count not in self._blocks:
            copy = torch.arange(count, device=self.rows.device)
            rows = (self.rows.long().unsqueeze(1) * count + copy).flatten()
            columns = (self.columns.long().unsqueeze(1) * count + copy).flatten()
            self._blocks[count] = arrange(rows, columns, (self.shape[0] * count, self.shape[1] * count))
        return self._blocks[count]

    def to(self, device: torch.device | str) -> "Structure":
        """The same pattern on another device."""
        parts = {part.name: getattr(self, part.name) for part in fields(self)}
        moved: dict[str, Any] = {name: part.to(device) for name, part in parts.items() if isinstance(part, Tensor)}
        return replace(self, **moved, _blocks={})


def arrange(rows: Tensor, columns: Tensor, shape: tuple[int, int]) -> tuple[Structure, Tensor]:
    """The structure of the pairs (`rows[p]`, `columns[p]`), and for each entry the pair it came from.

    Entries are sorted by row, then column; equal pairs stay in the order given.
    """
    pairs = torch.argsort(rows.long() * shape[1] + columns, stable=True)
    rows, columns = rows[pairs], columns[pairs]
    order = torch.argsort(columns, stable=True)
    short = max(*shape, rows.shape[0]) < _SHORT_LIMIT
    whole = torch.int32 if short else torch.int64
    structure = Structure(
        shape=shape,
        pointers=_pointers(rows, shape[0]).to(whole),
        rows=rows.to(whole),
        columns=columns.to(whole),
        transposed_pointers=_pointers(columns, shape[1]).to(whole),
        transposed_columns=rows[order].to(whole),
        order=order.to(whole),
    )
    return structure, pairs


def _pointers(rows: Tensor, num_rows: int) -> Tensor:
    counts = torch.bincount(rows, minlength=num_rows)
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)])
