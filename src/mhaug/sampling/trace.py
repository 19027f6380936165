"""`Trace`: what the chains did, and how to keep it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from mhaug import checks

if TYPE_CHECKING:
    import xarray

    from mhaug.sampling.diagnostics import Summary

# The numbers of each draw: unnormalised log P; of each part the full graph's change (ΔG'), and the mean and the
# standard deviation over the nodes of their ego-graphs' change (Δ_i).
QUANTITIES = (
    "log_prob",
    *("edge_change", "ego_edge_change", "ego_edge_spread"),
    *("node_change", "ego_node_change", "ego_node_spread"),
)
PER_UNIT = ("edge_flips", "node_flips", "edge_kept_share", "node_kept_share")
COUNTERS = ("proposed", "accepted")
SUFFIXES = (".nc", ".npz")


@dataclass(frozen=True, eq=False)
class Trace:
    """States of several chains, repeats included. Tensors are on the CPU; [chains, draws] come first."""

    log_prob: Tensor  # float64 [chains, draws]
    edge_change: Tensor
    ego_edge_change: Tensor
    ego_edge_spread: Tensor
    node_change: Tensor
    ego_node_change: Tensor
    ego_node_spread: Tensor
    unit_edges: Tensor  # long [2, M]: the units, in the order of the masks
    edge_kept: Tensor | None  # bool [chains, draws, M], if masks were kept
    node_kept: Tensor | None  # bool [chains, draws, V]
    edge_flips: Tensor  # long [chains, M]: draws at which the unit differed from the draw before
    node_flips: Tensor  # long [chains, V]
    edge_kept_share: Tensor  # float [chains, M]: share of draws that keep the unit
    node_kept_share: Tensor
    proposed: dict[str, Tensor]  # "move/part" -> long [chains, draws]: proposals since the last draw
    accepted: dict[str, Tensor]  # ... and how many of them were accepted
    settings: dict[str, Any]  # the sampler and the arguments of `sample`; plain JSON

    def __repr__(self) -> str:
        chains, draws = self.log_prob.shape
        units, nodes = self.edge_flips.shape[1], self.node_flips.shape[1]
        return (
            f"Trace(chains={chains}, draws={draws}, edges={units}, nodes={nodes}, seed={self.settings.get('seed')})"
        )

    def summary(self) -> "Summary":
        """ESS, R-hat, MCSE, acceptance, delivered strength beside μ, units that never moved."""
        from mhaug.sampling.diagnostics import summarise

        return summarise(self)

    def to_datatree(self) -> "xarray.DataTree":
        """As an xarray DataTree with the groups that ArviZ knows."""
        from mhaug.sampling.trace_tree import to_datatree

        return to_datatree(self)

    def save(self, path: str | Path) -> None:
        """Write a NetCDF file (`.nc`, needs the extra `trace`) or a NumPy archive (`.npz`). No pickle in either."""
        path = check_path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".nc":
            from mhaug.sampling.trace_tree import write_netcdf

            write_netcdf(self, path)
        else:
            np.savez_compressed(path, allow_pickle=False, **self._arrays())

    @classmethod
    def load(cls, path: str | Path) -> "Trace":
        """Read what `save` wrote."""
        path = check_path(path)
        checks.require(path.is_file(), "path", "a file that exists", str(path))
        if path.suffix == ".nc":
            from mhaug.sampling.trace_tree import read_netcdf

            return read_netcdf(path)
        with np.load(path, allow_pickle=False) as arrays:
            return cls.from_arrays(dict(arrays))

    def _arrays(self) -> dict[str, np.ndarray]:
        names = [*QUANTITIES, *PER_UNIT, "unit_edges"]
        arrays = {name: getattr(self, name).numpy() for name in names}
        for name in ("edge_kept", "node_kept"):
            if (mask := getattr(self, name)) is not None:
                arrays[name] = mask.numpy()
        for kind in COUNTERS:
            arrays |= {f"{kind}:{name}": counts.numpy() for name, counts in getattr(self, kind).items()}
        return {**arrays, "settings": np.array(json.dumps(self.settings))}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> "Trace":
        """The trace that these arrays came from."""
        fields: dict[str, Any] = {
            name: torch.from_numpy(np.ascontiguousarray(values))
            for name, values in arrays.items()
            if name != "settings" and ":" not in name
        }
        fields.setdefault("edge_kept", None)
        fields.setdefault("node_kept", None)
        for kind in COUNTERS:
            fields[kind] = {
                name.removeprefix(f"{kind}:"): torch.from_numpy(np.ascontiguousarray(values))
                for name, values in arrays.items()
                if name.startswith(f"{kind}:")
            }
        return cls(**fields, settings=json.loads(str(arrays["settings"])))


def check_path(path: str | Path, name: str = "path") -> Path:
    """A path that a trace can be kept at, with the packages that are here; asked before any long work."""
    path = Path(path)
    checks.require(path.suffix in SUFFIXES, name, "a file name that ends in .nc or .npz", str(path))
    if path.suffix == ".nc":
        from mhaug.sampling.trace_tree import xarray_package

        xarray_package()
    return path
