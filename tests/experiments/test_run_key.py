"""What makes another run: every setting, defaults among them, and the graph that is in a user's file."""

from dataclasses import dataclass, replace

import pytest

from experiments.some_records import runs
from mhaug import RunRecord, RunSpec, run
from mhaug.data.files.content import content_hash
from mhaug.experiments.chosen_settings import choose
from mhaug.experiments.run_key import identity, key_of
from mhaug.methods import catalogue

TINY = {"max_updates": 3, "hidden": 8}


def test_a_changed_default_makes_another_run(monkeypatch):
    spec = RunSpec("planted-partition", settings=TINY)
    before = key_of(spec)

    @dataclass(frozen=True)
    class Stronger(catalogue.METHODS["mh-aug"]):
        edge_strength: float = 0.7

    monkeypatch.setitem(catalogue.METHODS, "mh-aug", Stronger)
    assert key_of(spec) != before
    # specs say what was asked for, and that is the same
    assert spec == RunSpec("planted-partition", settings=TINY)


def test_a_default_that_is_spelt_out_is_the_same_run():
    assert key_of(RunSpec(settings={"hops": 2})) == key_of(RunSpec())


def test_records_name_every_setting():
    settings = run(RunSpec("planted-partition", settings=TINY)).settings
    assert {"edge_strength", "dropout", "layers", "weight_decay", "batch_size", "hidden"} <= settings.keys()
    assert settings["hidden"] == 8


def test_another_graph_in_the_same_file_makes_another_run(tmp_path):
    path = tmp_path / "graph.pt"
    path.write_bytes(b"one")
    before = key_of(RunSpec(str(path)))
    assert key_of(RunSpec(str(path))) == before
    path.write_bytes(b"another")
    assert key_of(RunSpec(str(path))) != before


def test_a_folder_is_all_of_its_files(tmp_path):
    for name, text in {"edges.csv": "a,b", "nodes.csv": "a"}.items():
        (tmp_path / name).write_text(text)
    before = content_hash(tmp_path)
    (tmp_path / "nodes.csv").rename(tmp_path / "knots.csv")
    assert content_hash(tmp_path) != before
    (tmp_path / "knots.csv").rename(tmp_path / "nodes.csv")
    assert content_hash(tmp_path) == before


@pytest.mark.parametrize(
    "spec", [{"method": "magic"}, {"settings": {"spell": 3}}, {"backbone": "mlp"}, {"colour": 1}]
)
def test_records_of_other_versions_can_be_read(spec):
    """A method, a setting or a field that is not there today."""
    record = run(RunSpec("planted-partition", method="vanilla", settings=TINY)).to_json(history=False)
    read = RunRecord.from_json({**record, "spec": {**record["spec"], **spec}, "weather": "fine"})
    assert read.spec.to_json() == {**record["spec"], **{k: v for k, v in spec.items() if k != "colour"}}
    assert len(key_of(read.spec)) == 32


def test_records_that_name_defaults_and_those_that_do_not_are_of_one_setting():
    new = runs([0.8, 0.9])
    old = [replace(each, settings=each.spec.given_settings()) for each in runs([0.8, 0.9, 0.7])[2:]]
    assert old[0].settings != new[0].settings
    choice = choose([*new, *old])
    assert (len(choice.records), choice.compared, choice.left_aside) == (3, 1, 0)


def test_a_later_setting_leaves_runs_of_before_their_keys():
    """None is what was always done; anything else is another run."""
    settings = {"batch_size": 8, "accept": "blocks"}
    assert "chain_parts" not in identity(RunSpec(settings=settings))["settings"]
    assert key_of(RunSpec(settings={**settings, "chain_parts": None})) == key_of(RunSpec(settings=settings))
    assert key_of(RunSpec(settings={**settings, "chain_parts": 2})) != key_of(RunSpec(settings=settings))
