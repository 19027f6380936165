"""Curves as TensorBoard reads them back."""

import sys

import pytest

from cli.test_sample import run
from experiments.some_records import curves, record
from mhaug.experiments.event_log import EventLog, run_name

pytest.importorskip("tensorboard", reason="needs the package tensorboard")


def read(place):
    """Tags and what stands behind them, by TensorBoard's own reader."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(place))
    events.Reload()
    return events


def test_curves_and_settings_come_back(tmp_path):
    one = record(0.8, method="mh-aug", history=curves(chain=True), settings={"dropout": 0.123})
    log = EventLog(tmp_path)
    log.add(one)
    events = read(log.add(one))  # a second time: replaced, not doubled
    groups = ["loss/total", "loss/supervised", "accuracy/validation", "accuracy/test", "chain/acceptance"]
    assert set(events.Tags()["scalars"]) == {*groups, "change/edge", "change/ego_edge"}
    curve = events.Scalars("accuracy/test")
    assert [point.step for point in curve] == list(range(1, 21))
    assert [point.value for point in curve] == pytest.approx(one.history["test_accuracy"])
    assert curve[-1].wall_time - curve[0].wall_time == pytest.approx(1.5 * 19 / 20, abs=1e-3)
    text = events.Tensors("settings/text_summary")[0].tensor_proto.string_val[0].decode()
    assert "| dropout | 0.123 |" in text
    assert "| torch | 2.13.0 |" in text


def test_other_settings_have_a_folder_of_their_own():
    names = {run_name(record(0.8, settings={"dropout": share}).spec) for share in (0.1, 0.2)}
    assert len(names) == 2
    assert all(name.startswith("cora-gcn-vanilla/seed-0-") for name in names)


@pytest.mark.parametrize("command", [["train"], ["sweep", "--engine", "batch", "--store", "runs.sqlite"]])
def test_on_the_command_line(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = [*command, "--dataset", "planted-partition", "--method", "vanilla", "--seeds", "0,1"]
    assert run(*words, "--set", "max_updates=3", "--set", "hidden=8", "--log-dir", "logs", "--json") == 0
    folders = sorted(tmp_path.glob("logs/planted-partition-gcn-vanilla/seed-*"))
    assert [folder.name[:6] for folder in folders] == ["seed-0", "seed-1"]
    assert len(read(folders[1]).Scalars("loss/total")) == 3


def test_without_tensorboard_nothing_is_trained(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    assert run("train", "--dataset", "planted-partition", "--log-dir", "logs") == 2
    assert capsys.readouterr().err == "mhaug: --log-dir needs the package tensorboard: pip install 'mhaug[log]'\n"
