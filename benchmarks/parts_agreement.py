"""Do chains in parts draw from the same law as chains on the whole graph? A part of `ranks.py`."""

import numpy as np
import torch

from mhaug import EgoTerm, MHAug
from mhaug.distributed.partitioned import partitioned_chain
from mhaug.sampling.diagnostics import describe


def agreement(data, draws_a_chain):
    """Four chains on the whole graph and four in two, three, four and eight parts, from far apart."""
    rows = {}
    for spread in (0.3, 1.0):
        sampler = MHAug(edges=EgoTerm(strength=0.3, spread_floor=spread))
        draws = {"whole": [], "parts": []}
        for index, parts in enumerate((2, 3, 4, 8)):
            chains = {"whole": sampler.chain(data, seed=index)}
            chains["parts"] = partitioned_chain(sampler, data, parts=parts, seed=index)
            for name, chain in chains.items():
                units = chain.setup.num_units
                dropped = torch.rand(1, units, generator=torch.Generator().manual_seed(index)) < index / 3
                chain.place({"edges": ~dropped})
                for _ in chain.warm_up(100):
                    pass
                draws[name].append(quantities(chain, draws_a_chain))
        rows[f"spread {spread:g}"] = {name: compare(draws, name) for name in draws["whole"][0]}
    return rows


def quantities(chain, draws):
    found = {"log_prob": [], "edge_change": [], "ego_change": [], "ego_spread": []}
    for _ in range(draws):
        chain.step()
        change = chain.change("edges")
        for name, value in zip(found, (chain.log_prob(), *change), strict=True):
            found[name].append(float(value))
    return found


def compare(draws, name):
    """Means of both, how many standard errors apart, and R-hat of all eight chains together."""
    each = {kind: np.array([chain[name] for chain in chains]) for kind, chains in draws.items()}
    whole, parts = (describe(each[kind]) for kind in ("whole", "parts"))
    apart = (whole.mean - parts.mean) / np.hypot(whole.mcse, parts.mcse)
    together = describe(np.concatenate([each["whole"], each["parts"]]))
    return {
        "mean": {"whole": whole.mean, "parts": parts.mean},
        "standard_errors_apart": apart,
        "r_hat_of_all_eight": together.r_hat,
        "effective_draws": {"whole": whole.ess_bulk, "parts": parts.ess_bulk},
    }
