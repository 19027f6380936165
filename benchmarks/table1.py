"""The table: for each cell a search on validation accuracy, then seeds 0-9 of the presets and of the best settings.

    python benchmarks/table1.py --data-dir ../shared/data --device cuda --workers 4 --minutes 9
    python benchmarks/table1.py --collect            # cells -> runs.jsonl, trials.csv, presets.toml, ...
    python benchmarks/table1.py --restore            # and back, to go on from the files of an earlier machine

`table1.toml` says which cells, in which order, with which budget. A cell is a folder under `--out` with its Optuna
journal and its runs; what is there is not made again, so that the command can be stopped and given again. Which of
the settings stands in the table is chosen on validation accuracy, too. Workers share a GPU well under NVIDIA's
multi-process service (`nvidia-cuda-mps-control -d`): six of them made 20 cells in seven minutes on one H200.
"""

import argparse
import fcntl
import itertools
import json
import multiprocessing
import time
import tomllib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from table1_collect import RUNS, TRIALS, collect, restore

from mhaug.experiments.search_space import suggest
from mhaug.experiments.study import ERROR, PRESET, open_study, optuna_package
from mhaug.experiments.tune import Search, tune

HERE = Path(__file__).parent
OUT = HERE.parent / "results" / "table1"
STUDY = "study.log"


def cells(options):
    """(stage, dataset, backbone, method), in the order of the plan."""
    for stage in tomllib.loads(options.plan.read_text())["stage"]:
        if not options.stages or stage["name"] in options.stages:
            for cell in itertools.product(stage["datasets"], stage["backbones"], stage["methods"]):
                if not options.only or "-".join(cell) in options.only:
                    yield stage, *cell


def make(job):
    """One cell, or what is left of it, in a process that makes many. Says how long it took."""
    *_, options, deadline = job
    if time.time() > deadline:
        return None
    folder = options.work / "-".join(job[1:4])
    folder.mkdir(parents=True, exist_ok=True)
    # a cell of two stages is one worker's at a time
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return make_alone(job, folder)


def make_alone(job, folder):
    """The search where it is not done, then the runs."""
    import torch

    from mhaug.experiments.engines.catalogue import build_engine

    stage, dataset, backbone, method, options, _ = job
    torch.set_num_threads(1)
    start = time.time()
    engine = build_engine("batch", data_dir=options.data_dir, device=options.device)
    known = json.loads((folder / TRIALS).read_text()) if (folder / TRIALS).is_file() else []
    if len(known) < stage["trials"]:
        common = searched(stage, dataset, backbone, method, options)
        seeds, value = tuple(range(stage["seeds"])), stage.get("value", "best")
        search = Search(dataset, backbone, method, stage["trials"], seeds, settings=common, value=value)
        recall(search, folder / STUDY, known)
        study = tune(search, folder / STUDY, engine, at_once=stage["at_once"])
        trials = [{"number": t.number, "value": t.value, "settings": t.params} for t in study.trials]
        (folder / TRIALS).write_text(json.dumps(trials))
    searching = time.time() - start
    count = finals(stage, (dataset, backbone, method), folder, options, engine)
    words = f"search {searching:.0f} s, in all {time.time() - start:.0f} s"
    return f"{dataset} {backbone} {method}: {count} runs, {words}" if count else None


def recall(search, journal, known):
    """Trials of an earlier machine, told to a journal that does not have them: a plan of more trials goes on."""
    if journal.is_file() or not known:
        return
    partial, preset = journal.with_suffix(".part"), search.preset()
    partial.unlink(missing_ok=True)
    study = open_study(search.name, partial, search.what())
    for trial in known:
        first = {PRESET: preset} if trial["settings"] == preset else None
        study.enqueue_trial(trial["settings"], user_attrs=first)
        asked = study.ask()
        suggest(asked, search.space())
        assert asked.params == trial["settings"], f"{search.name}: the space is not that of trial {trial['number']}"
        if trial["value"] is None:
            asked.set_user_attr(ERROR, "failed on an earlier machine")
            study.tell(asked, state=optuna_package().trial.TrialState.FAIL)
        else:
            study.tell(asked, trial["value"])
    partial.replace(journal)


def searched(stage, dataset, backbone, method, options):
    """What all trials have in common: short training, and sizes as in the presets, so that they share a batch."""
    from mhaug.methods.presets import preset_settings

    presets = preset_settings(dataset, backbone, method)
    fixed = {name: presets[name] for name in stage["fixed"]}
    return {**fixed, "max_updates": options.updates or stage["updates"]}


def finals(stage, cell, folder, options, engine):
    """Seeds 0-9 of the finalists, where they are missing. Each run is kept at once.

    A line is a record without its curves, with the test accuracy of every selection rule beside it.
    """
    from mhaug import RunSpec
    from mhaug.experiments.record import RunRecord
    from mhaug.experiments.run_key import key_of
    from mhaug.experiments.selection import RULES, accuracy_by

    trials = json.loads((folder / TRIALS).read_text())
    best = sorted((t for t in trials if t["value"] is not None), key=lambda t: -t["value"])
    finalists = [trial["settings"] for trial in best[: stage["finalists"]]]
    finalists += [{}] if stage.get("presets", True) else []
    longest = options.updates or stage.get("final_updates")
    own = {"max_updates": longest} if longest else {}
    specs = [RunSpec(*cell, seed, settings={**f, **own}) for f in finalists for seed in range(options.seeds)]
    path = folder / RUNS
    lines = path.read_text().splitlines() if path.is_file() else []
    done = {key_of(RunSpec.from_json(json.loads(line)["spec"])) for line in lines}
    # the presets may be among the best settings, too: the same runs by other words
    missing, made = [spec for key, spec in {key_of(spec): spec for spec in specs}.items() if key not in done], 0
    with path.open("a") as file:
        for outcome in engine.run(missing):
            if isinstance(outcome, RunRecord):
                rules = {rule: accuracy_by(outcome.history, rule) for rule in RULES}
                file.write(json.dumps({**outcome.to_json(history=False), "selection": rules}) + "\n")
                file.flush()
                made += 1
            else:
                print(f"failed: {outcome.spec} {outcome.error}", flush=True)
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", type=Path, default=HERE / "table1.toml")
    parser.add_argument("--stages", nargs="+", help="names of stages; all by default")
    parser.add_argument("--only", nargs="+", help="cells of these names: cora-gcn-grand ...")
    parser.add_argument("--data-dir")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no cell after so long")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--updates", type=int, help="for a trial of the command: this many updates everywhere")
    parser.add_argument("--work", type=Path, default=OUT / "cells", help="folder of the cells")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--collect", action="store_true")
    parser.add_argument("--restore", action="store_true")
    options = parser.parse_args()
    if options.collect:
        return collect(options.work, options.out)
    if options.restore:
        if options.work.exists():
            parser.error(f"--work must be a folder that is not there yet, but got {options.work}")
        return restore(options.out, options.work)
    deadline = time.time() + 60 * options.minutes
    jobs = [(*cell, options, deadline) for cell in cells(options)]
    # a forked process cannot use a GPU
    with ProcessPoolExecutor(options.workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        for made in pool.map(make, jobs):
            if made is not None:
                print(made, flush=True)


if __name__ == "__main__":
    main()
