"""`mhaug sample`: draw augmented graphs, and say how well the chain did."""

from pathlib import Path
from typing import Annotated

import typer

from mhaug import checks
from mhaug.cli.options import DataDir, Device, Graph, Json, Output, Quiet, Seed, checked_device

Strength = Annotated[float, typer.Option(help="μ of the edges: where each ego-graph's change is pulled to.")]
Spread = Annotated[float, typer.Option(help="σ of the edges: how far from μ an ego-graph may be.")]
Nodes = Annotated[float | None, typer.Option(help="μ of the nodes; without it no node is dropped.")]
NodeSpread = Annotated[float, typer.Option(help="σ of the nodes.")]
EgoWeight = Annotated[float, typer.Option(help="λ1 and λ3: weight of the ego-graphs.")]
CountWeight = Annotated[float, typer.Option(help="λ2 and λ4: weight of the count's normalisation.")]
StepSize = Annotated[float, typer.Option(help="σ_Δ: how far a proposal moves the change ratio.")]
Moves = Annotated[str, typer.Option(help="How the next graph is proposed: mixture, resample, flip, swap.")]
UntilEss = Annotated[float | None, typer.Option(help="Stop as soon as there are so many effective draws.")]
Out = Annotated[Path | None, typer.Option(help="Save the trace: .nc or .npz.")]
Plot = Annotated[Path | None, typer.Option(help="Draw the trace: .png, .svg or .pdf.")]


def sample(
    *,
    dataset: Graph = "digits",
    strength: Strength = 0.3,
    spread: Spread = 0.5,
    node_strength: Nodes = None,
    node_spread: NodeSpread = 0.5,
    ego_weight: EgoWeight = 1.0,
    count_weight: CountWeight = 1.0,
    hops: Annotated[int, typer.Option(help="k: size of an ego-graph.")] = 2,
    moves: Moves = "mixture",
    accept: Annotated[str, typer.Option(help="blocks, or joint (the paper's).")] = "blocks",
    step_size: StepSize = 0.03,
    chains: Annotated[int, typer.Option(help="Chains side by side, started far apart.")] = 4,
    draws: Annotated[int, typer.Option(help="States to keep of each chain.")] = 1000,
    warmup: Annotated[int, typer.Option(help="Steps before the first kept state.")] = 200,
    thin: Annotated[int, typer.Option(help="Keep every n-th state.")] = 1,
    until_ess: UntilEss = None,
    keep_masks: Annotated[bool, typer.Option("--keep-masks", help="Store which edges and nodes are kept.")] = False,
    out: Out = None,
    plot: Plot = None,
    seed: Seed = 0,
    data_dir: DataDir = None,
    device: Device = "cpu",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Draw augmented graphs from the target distribution and report on the chains.

    Example: mhaug sample --dataset cora --strength 0.3 --spread 1 --chains 4 --draws 1000 --plot chain.png
    """
    from mhaug.data.datasets import load_graph
    from mhaug.experiments.figures import canvas
    from mhaug.experiments.figures.chain import chain_figure
    from mhaug.sampling.sampler import MHAug
    from mhaug.sampling.target import EgoTerm
    from mhaug.sampling.trace import check_path

    output = Output(quiet, json)
    if out is not None:
        check_path(out, "out")
    if plot is not None:
        canvas.check_path(plot)
    weights = {"ego_weight": ego_weight, "count_weight": count_weight}
    with checks.called(spread_floor="spread"):
        edges = EgoTerm(strength=strength, spread_floor=spread, **weights)
    nodes = None
    if node_strength is not None:
        with checks.called(strength="node_strength", spread_floor="node_spread"):
            nodes = EgoTerm(strength=node_strength, spread_floor=node_spread, **weights)
    sampler = MHAug(edges=edges, nodes=nodes, hops=hops, moves=moves, accept=accept, step_size=step_size)
    data = load_graph(dataset, data_dir).to(checked_device(device))
    trace = sampler.sample(
        data,
        draws=draws,
        warmup=warmup,
        thin=thin,
        chains=chains,
        seed=seed,
        keep_masks=keep_masks,
        until_ess=until_ess,
        progress=output.progress,
    )
    summary = trace.summary()
    count = "1 chain" if chains == 1 else f"{chains} chains"
    output.show(lambda: f"{dataset}: {count}, {trace.log_prob.shape[1]} draws each\n{summary}")
    if out is not None:
        trace.save(out)
        output.show(lambda: f"trace: {out}")
    if plot is not None:
        canvas.save(chain_figure(trace, title=dataset), plot)
        output.show(lambda: f"picture: {plot}")
    output.result({"dataset": dataset, "seed": seed, **summary.to_dict(), "out": out, "plot": plot})
