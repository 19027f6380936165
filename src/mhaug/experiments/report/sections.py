"""The sections without curves: facts, pictures, failures, how to make it all again."""

import shlex
from collections import Counter
from collections.abc import Sequence
from html import escape
from statistics import fmean

from mhaug.experiments.report.commands import command, retry_command
from mhaug.experiments.report.material import Material
from mhaug.experiments.report.pictures import Picture
from mhaug.experiments.report.shapes import card, numbers, paragraph, section
from mhaug.experiments.table import Cell


def facts(material: Material, cells: Sequence[Cell]) -> str:
    """The numbers one asks for first."""
    records = material.records
    rows = {
        "finished runs": f"{len(records):,}",
        "failed runs": f"{len(material.failures):,}",
        "cells of the table": f"{sum(cell.runs > 0 for cell in cells):,}",
        "seeds a cell": _range([cell.runs for cell in cells if cell.runs]),
        "time of all runs": _duration(sum(record.seconds for record in records)),
        "computed on": ", ".join(sorted({record.device for record in records})) or "–",
    }
    boxes = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in rows.items())
    return f'<dl class="facts">{boxes}</dl>'


def figures_section(material: Material) -> str:
    """The images of the figures' folder, with their claims."""
    if not material.pictures:
        return ""
    return section("figures", "Figures", f'<div class="pictures">{"".join(map(_figure, material.pictures))}</div>')


def failures_section(material: Material) -> str:
    """Every failed run with its error."""
    if not material.failures:
        return section("failures", "Failed runs", paragraph("None."))
    rows = []
    for failure in material.failures:
        spec = failure.spec
        own = ", ".join(f"{name}={value}" for name, value in spec.own_settings().items()) or "–"
        rows.append([f"{spec.backbone} {spec.method} {spec.dataset}", str(spec.seed), own, failure.error])
    table = numbers(["cell", "seed", "settings", "error"], rows, "failed runs", last="error")
    words = paragraph("To try them again (add --store and --data-dir):")
    lines = _commands([retry_command(failure.spec) for failure in material.failures])
    return section("failures", "Failed runs", table + words + lines)


def commands_section(material: Material, cells: Sequence[Cell]) -> str:
    """The command behind every cell, and the versions it ran on."""
    lines = [command(cell.choice.records) for cell in cells if cell.runs]
    lines += [picture.command for picture in material.pictures if picture.command]
    stores = shlex.join([word for source in material.sources for word in ("--store", source)])
    last = [f"mhaug table {stores}", f"mhaug report {stores} --out report.html"]
    text = (
        "One line a cell of the table or a figure; --data-dir (or MHAUG_DATA) says where the benchmark graphs are, "
        "--store where the runs go. Settings that are not named are the presets of this version."
    )
    rows = _versions(material)
    versions = numbers(rows[0], rows[1:], "versions")
    return section(
        "again",
        "Commands and versions",
        f"{paragraph(text)}{_commands([*lines, *last])}<h3>Versions</h3>{versions}<h3>Time</h3>{_times(cells)}",
    )


def _times(cells: Sequence[Cell]) -> str:
    rows = []
    for cell in cells:
        if cell.runs:
            records = cell.choice.records
            seconds, updates = fmean(r.seconds for r in records), fmean(r.updates for r in records)
            each = f"{1000 * seconds / max(updates, 1):.1f}"
            rows.append([" ".join(cell.key), f"{seconds:.1f}", f"{updates:.0f}", each])
    return numbers(["cell", "seconds a run", "updates a run", "ms an update"], rows, "time")


def _versions(material: Material) -> list[list[str]]:
    """One row for each set of versions and device that runs were made on."""
    found = Counter((record.device, tuple(record.versions.items())) for record in material.records)
    packages = list(dict.fromkeys(name for _, versions in found for name, _ in versions))
    rows = [
        [f"{count:,} runs", device, *(dict(versions).get(name, "–") for name in packages)]
        for (device, versions), count in found.items()
    ]
    return [["", "device", *packages], *rows]


def _commands(lines: Sequence[str]) -> str:
    return f'<div class="commands">{"".join(f"<pre>{escape(line)}</pre>" for line in lines)}</div>'


def _duration(seconds: float) -> str:
    """In the largest unit of which there is one."""
    if seconds >= 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 60:.1f} min" if seconds >= 60 else f"{seconds:.1f} s"


def _range(counts: Sequence[int]) -> str:
    if not counts:
        return "–"
    return str(counts[0]) if min(counts) == max(counts) else f"{min(counts)}–{max(counts)}"


def _figure(picture: Picture) -> str:
    claims = "".join(f"<li>{escape(claim)}</li>" for claim in picture.claims)
    below = f'<ul class="notes">{claims}</ul>' if claims else ""
    return f"<div>{card(picture.title, '', picture.uri, picture.title, wide=True)}{below}</div>"
