"""`results/scale/table.md` from the JSON files beside it."""

import json
from statistics import stdev


def write_table(folder):
    """Every part for which there are numbers."""
    parts = [part(folder) for part in (accuracy_table, cost_table) if part(folder)]
    (folder / "table.md").write_text("\n\n".join(parts) + "\n")


def accuracy_table(folder):
    """Batches beside the whole graph."""
    if not (folder / "accuracy.json").is_file():
        return ""
    rows = json.loads((folder / "accuracy.json").read_text())
    settings = rows[0]["settings"]
    lines = [
        "Test accuracy of GCN at the best validation accuracy, mean ± standard deviation over random splits; "
        f"batches of {settings['batch_size']}, fan-outs {settings['fan_outs']}. "
        "In brackets: standard error of the difference, run by run. Made by `benchmarks/scale.py --only accuracy`.",
        "",
        "| graph | method | splits, updates | whole graph | in batches | difference | s an update: whole, batches |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        whole, batches = row["whole"], row["batches"]
        cells = [f"{each['test']:.2f} ± {each['test_std'] or 0:.2f}" for each in (whole, batches)]
        spent = [each["seconds_per_update"] for each in (whole, batches)]
        times = "-" if None in spent else ", ".join(f"{seconds:.2f}" for seconds in spent)
        pairs = [after - before for before, after in zip(whole["tests"], batches["tests"], strict=True)]
        error = f" ({stdev(pairs) / len(pairs) ** 0.5:.2f})" if len(pairs) > 1 else ""
        names = f"| {row['dataset']} | {row['method']} | {len(pairs)}, {row['settings']['max_updates']} "
        lines.append(f"{names}| {' | '.join(cells)} | {row['difference']:+.2f}{error} | {times} |")
    return "\n".join(lines)


COSTS = {
    "nodes": ("nodes", "{:,}"),
    "columns": ("columns (both directions)", "{:,}"),
    "features": ("features", "{}"),
    "index_s": ("in-edge index, s", "{:.1f}"),
    "chain_begun_s": ("chain begun (units, wiring), s", "{:.1f}"),
    "moves": ("moves of the chain", "{}"),
    "chain_round_s": ("a round of the chain, s", "{:.2f}"),
    "received_s": ("messages of a sample counted, s", "{:.2f}"),
    "batch_s": ("a batch and its update, s", "{:.3f}"),
    "evaluation_s": ("logits of all nodes, s", "{:.1f}"),
    "peak_gib": ("peak memory, GiB", "{:.1f}"),
    "device_peak_gib": ("peak memory of the device, GiB", "{:.1f}"),
}


def cell(row, key, form):
    """One number; on a CPU the process's own seconds, and those that passed in brackets."""
    own = key.removesuffix("_s") + "_cpu_s"
    if key not in row:
        return "-"
    if row["device"] == "cpu" and own in row:
        return f"{form.format(row[own])} ({form.format(row[key])})"
    return form.format(row[key])


def cost_table(folder):
    """What training costs, a column a graph and device."""
    names = ("arxiv", "arxiv-mixture", "products", "products-mixture", "arxiv-cuda", "products-cuda")
    found = {name: folder / f"{name}.json" for name in names}
    columns = {name: json.loads(path.read_text()) for name, path in found.items() if path.is_file()}
    if not columns:
        return ""
    lines = [
        "`mh-aug` with GCN (2 layers of 64) in batches of 1024 labelled and 1024 of all nodes, fan-outs 15 and 10; "
        "features in a file. An epoch goes through the labelled nodes, or all nodes, with one new sample; it is "
        "extrapolated from the batches timed. Seconds on the CPU are the process's own (the clock on the wall in "
        "brackets, on a machine with other work). Made by `benchmarks/scale.py --only arxiv products`.",
        "",
        f"| | {' | '.join(columns)} |",
        f"|---|{'---|' * len(columns)}",
    ]
    for key, (words, form) in COSTS.items():
        if any(key in row for row in columns.values()):
            cells = [cell(row, key, form) for row in columns.values()]
            lines.append(f"| {words} | {' | '.join(cells)} |")
    for words in ("labelled", "all nodes"):
        cells = [
            f"{row['batches_an_epoch'][words]:,}: {row['epoch_s_extrapolated'][words]:,.0f}"
            for row in columns.values()
        ]
        lines.append(f"| batches of an epoch of the {words}: s | {' | '.join(cells)} |")
    return "\n".join(lines)
