"""The fixed pattern, and sums over its rows and columns."""

import torch

from mhaug.backbones.structure import arrange

# entries (row, column): (1, 0), (0, 1), (1, 0) again; row 2 and column 2 are empty
ROWS, COLUMNS = torch.tensor([1, 0, 1]), torch.tensor([0, 1, 0])


def test_entries_are_sorted_and_repeats_stay_apart() -> None:
    structure, source = arrange(ROWS, COLUMNS, (3, 3))
    assert structure.num_entries == 3
    assert structure.pointers.tolist() == [0, 1, 3, 3]
    assert structure.rows.tolist() == [0, 1, 1]
    assert structure.columns.tolist() == [1, 0, 0]
    assert source.tolist() == [1, 0, 2]


def test_the_transposed_pattern_reads_values_in_its_own_order() -> None:
    structure, _ = arrange(ROWS, COLUMNS, (3, 3))
    assert structure.transposed_pointers.tolist() == [0, 2, 3, 3]
    assert structure.transposed_columns.tolist() == [1, 1, 0]
    assert structure.order.tolist() == [1, 2, 0]


def test_row_and_column_sums_by_hand() -> None:
    structure, _ = arrange(ROWS, COLUMNS, (3, 3))
    values = torch.tensor([1.0, 10.0, 100.0])
    assert structure.row_sums(values).tolist() == [1.0, 110.0, 0.0]
    assert structure.column_sums(values).tolist() == [110.0, 1.0, 0.0]
    assert structure.row_maxima(values).tolist() == [1.0, 100.0, -torch.inf]


def test_an_empty_pattern() -> None:
    nothing = torch.empty(0, dtype=torch.long)
    structure, _ = arrange(nothing, nothing, (2, 3))
    assert structure.row_sums(torch.empty(0)).tolist() == [0.0, 0.0]
    assert structure.to("cpu").shape == (2, 3)
