"""`results/table1/presets.toml` is what the runs of the table were trained with."""

import json
from itertools import groupby
from pathlib import Path

from mhaug.experiments.chosen_settings import choose
from mhaug.experiments.record import RunRecord
from mhaug.experiments.run_key import completed
from mhaug.methods.preset_file import rows_of
from mhaug.methods.presets import preset_settings
from mhaug.training.plan import every_setting

TABLE = Path(__file__).parents[2] / "results" / "table1"


def cell_of(record: RunRecord) -> tuple[str, str, str]:
    return record.spec.dataset, record.spec.backbone, record.spec.method


def test_a_run_with_the_presets_of_the_table_is_one_of_the_table(monkeypatch):
    presets = TABLE / "presets.toml"
    monkeypatch.setenv("MHAUG_PRESETS", str(presets))
    records = [RunRecord.from_json(json.loads(line)) for line in (TABLE / "runs.jsonl").read_text().splitlines()]
    cells = {cell: list(group) for cell, group in groupby(sorted(records, key=cell_of), key=cell_of)}
    for cell, runs in cells.items():
        given = every_setting(*cell[1:], preset_settings(*cell))
        assert given == completed(choose(runs).records[0]), cell
    assert len(rows_of(presets.read_text(encoding="utf-8"), presets.name)) == len(cells)
