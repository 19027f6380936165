"""A trace as an xarray DataTree, and as NetCDF. Needs the extra `trace`."""

import json
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from mhaug.checks import RequestError
from mhaug.sampling.trace import COUNTERS, PER_UNIT, QUANTITIES, Trace

if TYPE_CHECKING:
    import xarray


def to_datatree(trace: Trace) -> "xarray.DataTree":
    """Groups: `posterior` (numbers and masks), `sample_stats` (lp, acceptance), `constant_data` (the units)."""
    xarray = xarray_package()
    draws = ("chain", "draw")
    posterior: dict[str, Any] = {
        name: (draws, getattr(trace, name).numpy()) for name in QUANTITIES if name != "log_prob"
    }
    for name, unit in (("edge_kept", "edge"), ("node_kept", "node")):
        if (mask := getattr(trace, name)) is not None:
            posterior[name] = ((*draws, unit), mask.numpy())
    # "/" separates groups in a DataTree
    rates = {
        f"{kind}:{name}".replace("/", "|"): (draws, counts.numpy())
        for kind in COUNTERS
        for name, counts in getattr(trace, kind).items()
    }
    per_unit = {name: (("chain", name.split("_")[0]), getattr(trace, name).numpy()) for name in PER_UNIT}
    constant = {"unit_edges": (("end", "edge"), trace.unit_edges.numpy()), **per_unit}
    groups = {
        "posterior": xarray.Dataset(posterior),
        "sample_stats": xarray.Dataset({"lp": (draws, trace.log_prob.numpy()), **rates}),
        "constant_data": xarray.Dataset(constant),
    }
    tree = xarray.DataTree.from_dict(groups)
    tree.attrs["settings"] = json.dumps(trace.settings)
    return tree


def write_netcdf(trace: Trace, path: Path) -> None:
    """Compressed NetCDF."""
    tree = to_datatree(trace)
    packed = {
        f"/{group}": {name: {"zlib": True, "complevel": 4} for name in node.data_vars if node.dataset[name].size}
        for group, node in tree.children.items()
    }
    tree.to_netcdf(path, engine="h5netcdf", encoding=packed)


def read_netcdf(path: Path) -> Trace:
    """The trace that `write_netcdf` wrote."""
    with xarray_package().open_datatree(path, engine="h5netcdf") as tree:
        arrays = {
            name.replace("|", "/"): np.asarray(node[name].values)
            for node in tree.children.values()
            for name in node.data_vars
        }
        arrays["log_prob"] = arrays.pop("lp")
        return Trace.from_arrays({**arrays, "settings": np.array(tree.attrs["settings"])})


def xarray_package() -> ModuleType:
    """xarray, and the package by which it writes files; asked for by name where one is missing."""
    try:
        import h5netcdf  # noqa: F401
        import xarray
    except ImportError as missing:
        raise RequestError(
            f"NetCDF and DataTree need '{missing.name}': pip install 'mhaug[trace]', or save to .npz"
        ) from missing
    return xarray
