"""`mhaug tune`: settings of one cell of the table, searched on validation accuracy."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mhaug import checks
from mhaug.cli.options import DataDir, Device, Graph, Json, Output, Quiet, Seed, Slurm, checked_device
from mhaug.cli.settings import parse_seeds, parse_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from optuna import Study
    from optuna.trial import FrozenTrial

    Report = Callable[[Study], None]


def tune(
    *,
    dataset: Graph = "cora",
    backbone: Annotated[str, typer.Option(help="gcn, sage or gat.")] = "gcn",
    method: Annotated[str, typer.Option(help="A row of Table 1.")] = "mh-aug",
    trials: Annotated[int, typer.Option(help="Settings to try, the presets among them.")] = 40,
    seeds: Annotated[str, typer.Option(help="Seeds of a trial: 0-2 or 0,3,5.")] = "0-2",
    split: Annotated[str, typer.Option(help="public or random.")] = "public",
    setting: Annotated[list[str] | None, typer.Option("--set", help="name=value, the same in all trials.")] = None,
    value: Annotated[str, typer.Option(help="Of a trial: best or smoothed validation accuracy.")] = "best",
    study: Annotated[Path, typer.Option(help="The journal; a search that was stopped goes on.")] = Path("study.log"),
    presets: Annotated[Path | None, typer.Option(help="Write what was chosen into this presets file.")] = None,
    engine: Annotated[str, typer.Option(help="batch, process, ray or slurm.")] = "process",
    workers: Annotated[int | None, typer.Option(help="Processes of the engine `process`; usually 2.")] = None,
    at_once: Annotated[int, typer.Option(help="Trials asked for before any is told.")] = 2,
    address: Annotated[str | None, typer.Option(help="Of a Ray cluster.")] = None,
    slurm: Slurm = None,
    seed: Seed = 0,
    data_dir: DataDir = None,
    device: Device = "cpu",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Search settings on validation accuracy alone; test labels are never looked at.

    Example: mhaug tune --dataset cora --method uda --trials 40 --seeds 0-2 --set max_updates=700 --study cora.log
    """
    from mhaug.cli.bar import study_bar
    from mhaug.experiments.engines.catalogue import build_engine
    from mhaug.experiments.study import counts
    from mhaug.experiments.tune import Search
    from mhaug.experiments.tune import tune as search_settings
    from mhaug.methods.preset_file import write_row

    output = Output(quiet, json)
    checked_device(device)
    checks.whole_number(trials, "trials", 1)
    checks.whole_number(at_once, "at_once", 1)
    common = parse_settings(setting or [])
    search = Search(dataset, backbone, method, trials, tuple(parse_seeds(seeds)), split, seed, common, value)
    search.specs({})  # wrong names are refused before anything is run
    places: dict[str, Any] = {"address": address, "slurm": parse_settings(slurm or [], "--slurm")}
    works = build_engine(engine, data_dir=data_dir, device=device, workers=workers, **places)
    rounds: list[Study] = []
    try:
        with study_bar(search.name, trials, shown=output.progress) as report:
            found = search_settings(search, study, works, at_once=at_once, report=_counted(rounds, report))
    except KeyboardInterrupt:
        output.note(f"the same command goes on with the finished trials of --study {study}")
        raise
    best = _best(found)
    if not rounds:
        output.note(f"no trial was left to run: what follows is read from {study}")
    # what all trials had in common is part of the choice
    chosen = {**best.params, **search.settings}
    through = sum(trial.state.is_finished() and counts(trial) for trial in found.trials)
    note = f"{search.name} in {study}, {through} trials of {len(search.seeds)} seeds, validation {best.value:.4f}"
    if presets is not None:
        write_row(presets, dataset, backbone, method, chosen, note)
    usual = _value_of(found, search.preset())
    output.show(lambda: f"{note}; trial {best.number}:")
    output.show(lambda: "\n".join(f"  {name} = {value}" for name, value in sorted(chosen.items())))
    output.show(lambda: _beside(best.value, usual))
    if presets is not None:
        output.show(lambda: f"written: {presets}; MHAUG_PRESETS={presets} makes every command heed it")
    values = {"validation_accuracy": best.value, "presets_validation_accuracy": usual}
    output.result({**values, "trial": best.number, "settings": chosen, "study": str(study)})


def _counted(rounds: "list[Study]", report: "Report | None") -> "Report":
    """The report function; `rounds` gets an entry whenever trials were run."""

    def counted(study: "Study") -> None:
        rounds.append(study)
        if report is not None:
            report(study)

    return counted


def _value_of(found: "Study", preset: dict[str, Any]) -> float | None:
    """Of the trial that is the presets; None where it failed or is not finished."""
    from mhaug.experiments.study import PRESET

    values = [trial.value for trial in found.trials if trial.user_attrs.get(PRESET) == preset]
    return next((value for value in values if value is not None), None)


def _beside(value: float | None, usual: float | None) -> str:
    """Whether it was worth it."""
    if value is None or usual is None:
        return "the presets gave no validation accuracy to compare with"
    less = f"{value - usual:.4f} less" if value > usual else "as good"
    return f"the presets: validation {usual:.4f}, {less}"


def _best(found: "Study") -> "FrozenTrial":
    """The trial to choose, where there is one."""
    from mhaug.experiments.study import ERROR

    if any(trial.value is not None for trial in found.trials):
        return found.best_trial
    errors = [trial.user_attrs[ERROR] for trial in found.trials if ERROR in trial.user_attrs]
    why = f"the last failed with {errors[-1]}" if errors else "other programs are at work on all that are left"
    raise RuntimeError(f"no trial was finished; {why}")
