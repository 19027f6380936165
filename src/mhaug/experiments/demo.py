"""`make demo`: vanilla against MH-Aug on the built-in digits graph, over a few seeds, with one picture.

python -m mhaug.experiments.demo --out demo
"""

import argparse
from pathlib import Path
from statistics import mean

import torch

from mhaug.experiments.figures.canvas import save
from mhaug.experiments.figures.training import training_figure
from mhaug.experiments.plain_json import dumps
from mhaug.experiments.record import RunRecord
from mhaug.experiments.run import run
from mhaug.experiments.spec import RunSpec

METHODS = ("vanilla", "mh-aug")


def main() -> None:
    """Train, print the accuracies side by side, draw."""
    parser = argparse.ArgumentParser(description="Vanilla against MH-Aug on the built-in digits graph.")
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for demo.png and demo.json")
    parser.add_argument("--seeds", type=int, default=3, help="seeds 0..n-1")
    parser.add_argument("--updates", type=int, default=400, help="updates of the weights in each run")
    options = parser.parse_args()
    # so small a graph gains nothing from more threads, and on a busy machine they wait for each other
    torch.set_num_threads(1)
    print("handwritten digits, 5 labels a class, GCN: test accuracy at the best validation accuracy")
    print(f"{'seed':>6}" + "".join(f"{method:>12}" for method in METHODS))
    records: list[RunRecord] = []
    for seed in range(options.seeds):
        specs = [RunSpec("digits", "gcn", m, seed, settings={"max_updates": options.updates}) for m in METHODS]
        pair = [run(spec) for spec in specs]
        print(f"{seed:6}" + "".join(f"{record.test_accuracy:12.2%}" for record in pair), flush=True)
        records += pair
    means = {m: mean(r.test_accuracy for r in records if r.spec.method == m) for m in METHODS}
    print(f"{'mean':>6}" + "".join(f"{value:12.2%}" for value in means.values()))
    picture = save(training_figure(records), options.out / "demo.png")
    numbers = {"test_accuracy": means, "runs": [record.to_json(history=False) for record in records]}
    (options.out / "demo.json").write_text(dumps(numbers, indent=1) + "\n", encoding="utf-8")
    print(f"picture: {picture}")


if __name__ == "__main__":
    main()
