"""The connections of a batch for a pass without a gradient: no sort, since none of it is ever transposed."""

import torch
from torch import Tensor

from mhaug.backbones.connections import BothKinds, Connections
from mhaug.backbones.structure import Structure
from mhaug.minibatch.batch import Batch


def inward(batch: Batch, num_rows: int) -> BothKinds:
    """What `connect` gives, with each row's self-connection last, and without the transposed pattern."""
    (source, target), num_edges = batch.edge_index, len(batch.e_id)
    nodes = torch.arange(num_rows, device=source.device)
    counts = torch.bincount(target, minlength=num_rows)
    pointers = torch.cat([counts.new_zeros(1), (counts + 1).cumsum(0)])
    # columns are sorted by target: before column e come e columns and the self-connections of earlier rows
    place, own = torch.arange(num_edges, device=source.device) + target, pointers[1:] - 1
    short = num_edges + batch.num_nodes < 2**31
    whole = torch.int32 if short else torch.int64

    def laid_out(of_columns: Tensor, of_nodes: Tensor) -> Tensor:
        entries = torch.empty(num_edges + num_rows, dtype=whole, device=source.device)
        entries[place], entries[own] = of_columns.to(whole), of_nodes.to(whole)
        return entries

    nothing = torch.empty(0, dtype=whole, device=source.device)
    structure = Structure(
        shape=(num_rows, batch.num_nodes),
        pointers=pointers.to(whole),
        rows=laid_out(target, nodes),
        columns=laid_out(source, nodes),
        transposed_pointers=nothing,
        transposed_columns=nothing,
        order=nothing,
    )
    column = torch.arange(num_edges, device=source.device)
    one, zero = torch.full_like(nodes, num_edges), torch.full_like(nodes, num_edges + 1)
    with_self = laid_out(column.masked_fill(source == target, num_edges + 1), one)
    return BothKinds(Connections(structure, with_self), Connections(structure, laid_out(column, zero)))
