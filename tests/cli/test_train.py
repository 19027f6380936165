import csv
import json

import pytest

from cli.test_sample import run
from experiments.some_records import record as made_up
from mhaug.checks import RequestError
from mhaug.cli.settings import parse_seeds, parse_settings
from mhaug.cli.train_words import row

FAST = ["--dataset", "planted-partition", "--set", "max_updates=15", "--set", "hidden=8"]


def test_train_then_predict(capsys, tmp_path):
    assert run("train", *FAST, "--method", "mh-aug", "--seeds", "0,1", "--out", str(tmp_path), "--json") == 0
    printed = capsys.readouterr().out.strip().splitlines()
    assert len(printed) == 1
    record = json.loads(printed[0])
    assert [each["spec"]["seed"] for each in record["runs"]] == [0, 1]
    assert record["runs"][0]["settings"]["max_updates"] == 15
    out = tmp_path / "deep" / "predictions.csv"
    assert run("predict", "--model", str(tmp_path / "seed-1"), "--out", str(out), "--json") == 0
    assert json.loads(capsys.readouterr().out)["nodes"] == 300
    rows = list(csv.DictReader(out.open()))
    assert list(rows[0]) == ["node", "label", "p_0", "p_1", "p_2"]
    assert sum(float(rows[5][name]) for name in ("p_0", "p_1", "p_2")) == pytest.approx(1, abs=1e-4)


def test_train_in_batches(capsys, tmp_path):
    words = ["batch_size=16", "fan_outs=5,3", "evaluate_every=5"]
    settings = [word for setting in words for word in ("--set", setting)]
    assert run("train", *FAST, *settings, "--method", "mh-aug", "--out", str(tmp_path), "--json") == 0
    record = json.loads(capsys.readouterr().out)["runs"][0]
    assert record["settings"]["fan_outs"] == "5,3"
    assert record["updates"] == 15
    assert run("predict", "--model", str(tmp_path), "--out", str(tmp_path / "p.csv"), "--quiet") == 0
    assert run("train", *FAST, "--method", "grand", "--set", "batch_size=16") == 2
    assert "'method in batches' must be one of vanilla" in capsys.readouterr().err


def test_a_table_for_people(capsys):
    assert run("train", *FAST, "--method", "vanilla", "--seeds", "0-2") == 0
    shown = capsys.readouterr().out
    assert "over 3 seeds" in shown
    assert "macro-F1" in shown


def test_threads_are_as_asked(capsys):
    import torch

    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        assert run("train", *FAST, "--method", "vanilla", "--quiet") == 0
        # the fit itself says what a graph is worth
        assert torch.get_num_threads() == 3
        assert run("train", *FAST, "--method", "vanilla", "--threads", "2", "--quiet") == 0
        assert torch.get_num_threads() == 2
        assert run("train", *FAST, "--threads", "0") == 2
        assert "'threads' must be a whole number of at least 1" in capsys.readouterr().err
    finally:
        torch.set_num_threads(before)


def test_own_file(capsys, tmp_path):
    """Words as labels and as node names come back in the predictions."""
    edges = ["source,target"] + [f"n{i},n{j}" for i in range(12) for j in range(i) if (i < 6) == (j < 6)]
    nodes = ["id,label,split,a,b"]
    for i in range(12):
        word, role = ("cat", "dog")[i // 6], ("train", "train", "val", "test", "test", "")[i % 6]
        nodes.append(f"n{i},{word if role else ''},{role},{int(i < 6)},{int(i >= 6)}")
    (tmp_path / "edges.csv").write_text("\n".join(edges))
    (tmp_path / "nodes.csv").write_text("\n".join(nodes))
    fast = ["--set", "max_updates=30", "--out", str(tmp_path / "run"), "--quiet"]
    assert run("train", "--graph", str(tmp_path), *fast) == 0
    assert run("predict", "--model", str(tmp_path / "run"), "--out", str(tmp_path / "p.csv"), "--quiet") == 0
    labels = {row["node"]: row["label"] for row in csv.DictReader((tmp_path / "p.csv").open())}
    assert labels == {f"n{i}": ("cat", "dog")[i // 6] for i in range(12)}
    assert capsys.readouterr().out == ""


def test_json_has_null_where_nothing_can_be_measured(capsys, tmp_path):
    """A graph without test nodes."""
    (tmp_path / "edges.csv").write_text("source,target\n" + "\n".join(f"{i},{i + 1}" for i in range(7)))
    rows = [f"{i},{i % 2},{'val' if i > 3 else 'train'},{i % 2},1" for i in range(8)]
    (tmp_path / "nodes.csv").write_text("\n".join(["id,label,split,a,b", *rows]))
    words = ["train", "--graph", str(tmp_path), "--method", "vanilla", "--set", "max_updates=3", "--seeds", "0,1"]
    assert run(*words, "--json") == 0

    def refuse(word):
        raise ValueError(f"{word} is not JSON")

    record = json.loads(capsys.readouterr().out, parse_constant=refuse)
    assert (record["test_accuracy"], record["runs"][0]["test_accuracy"]) == (None, None)


def test_no_validation_nodes(capsys, tmp_path):
    """Nothing to choose weights by is said, and a dash is no accuracy of nan%."""
    (tmp_path / "edges.csv").write_text("source,target\n" + "\n".join(f"{i},{i + 1}" for i in range(7)))
    rows = [f"{i},{i % 2},{'test' if i > 3 else 'train'},{i % 2},1" for i in range(8)]
    (tmp_path / "nodes.csv").write_text("\n".join(["id,label,split,a,b", *rows]))
    words = ["train", "--graph", str(tmp_path), "--method", "vanilla", "--set", "max_updates=3", "--seeds", "0,1"]
    assert run(*words) == 0
    said = capsys.readouterr()
    assert "nan" not in said.out
    assert [line.split()[1] for line in said.out.splitlines()[2:]] == ["–"] * 3
    assert said.err == "no validation nodes (val_mask): the last update's weights are kept\n"


def test_a_run_that_is_stopped_and_gone_on_with_says_so(capsys, tmp_path, monkeypatch):
    from mhaug.training.progress import Progress

    count, last = Progress.count, []

    def stop_at_eight(progress, *step):
        if progress.updates == 8 and not last:
            last.append(8)
            raise KeyboardInterrupt
        count(progress, *step)

    monkeypatch.setattr(Progress, "count", stop_at_eight)
    words = ["train", *FAST, "--method", "vanilla"]
    assert run(*words) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["nothing was kept; with --out the same command could have gone on from here", "mhaug: stopped"]
    last.clear()
    words += ["--out", str(tmp_path), "--checkpoint-every", "5"]
    assert run(*words) == 1
    assert capsys.readouterr().err.startswith(f"the same command goes on from the last checkpoint in {tmp_path}\n")
    assert run(*words) == 0
    assert capsys.readouterr().err == "going on after update 5\n"
    assert run(*words) == 0
    read = f"seed 0: finished before, read from {tmp_path / 'seed-0'} and not trained again\n"
    assert capsys.readouterr().err == read


def test_a_loss_that_is_no_number_says_what_to_try(capsys):
    assert run("train", *FAST, "--method", "vanilla", "--set", "learning_rate=1e38") == 1
    said = capsys.readouterr().err
    assert said.startswith("mhaug: training stopped at step ")
    assert said.endswith("; try a smaller learning rate (--set learning_rate=1e+37)\n")
    assert "keeps the weights" not in said


def test_only_a_chain_accepts():
    of = [row(made_up(0.8, method=method)).split()[-2] for method in ("vanilla", "drop-edge", "mh-aug")]
    assert of == ["–", "–", f"{made_up(0.8).acceptance_rate:.1%}"]


def test_a_line_now_and_then_where_there_is_no_terminal(capsys, monkeypatch):
    from mhaug import counted as lines

    monkeypatch.setattr(lines, "EVERY", 0.0)
    assert run("train", *FAST, "--method", "vanilla") == 0
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 15
    assert "seed 0: 15 of 15 updates  loss" in said[-1]


def test_a_folder_that_cannot_be_written_is_refused_before_training(capsys, tmp_path):
    (tmp_path / "file").touch()
    assert run("train", *FAST, "--out", str(tmp_path / "file" / "run")) == 2
    assert capsys.readouterr().err.startswith("mhaug: 'out' must be a folder that can be written (Not a directory)")


@pytest.mark.parametrize("command", ["table", "report", "datasets"])
def test_every_command_takes_the_common_options(command, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs.jsonl").write_text(json.dumps(made_up(0.8).to_json()))
    records = [] if command == "datasets" else ["--records", "runs.jsonl"]
    assert run(command, *records, "--seed", "1", "--data-dir", ".", "--device", "cpu", "--json") == 0
    assert json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["train", "--method", "magic"], "mhaug: 'method' must be one of vanilla"),
        (["train", "--backbone", "mlp"], "mhaug: 'backbone' must be one of gcn, sage, gat; got 'mlp'"),
        (["train", "--set", "speed=9"], "mhaug: 'settings of mh-aug with gcn' must be one of"),
        (["train", "--set", "edge_strength=2"], "mhaug: 'edge_strength' must be a number in [0, 1]; got 2"),
        (["train", "--set", "node_spread_floor=0"], "mhaug: 'node_spread_floor' must be a finite number above 0"),
        (["train", "--set", "speed"], "mhaug: --set must be name=value"),
        (["train", "--seeds", "9-0"], "mhaug: --seeds must be whole numbers like 0-9 or 0,3,5; got '9-0'"),
        (["train", "--dataset", "grid"], "mhaug: dataset must have labels"),
        (["predict", "--model", "nowhere"], "mhaug: model must be a folder with classifier.json"),
        (["predict"], "mhaug: Missing option '--model'"),
    ],
)
def test_a_wrong_request_is_one_line_and_status_2(capsys, words, line):
    assert run(*words) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(line)
    assert captured.err.count("\n") == 1


def test_words_for_settings_and_seeds():
    assert parse_settings(["a=1", "b=x", "c=[1, 2]", "d=null", "e=0.5=1"]) == {
        "a": 1, "b": "x", "c": [1, 2], "d": None, "e": "0.5=1",
    }  # fmt: skip
    assert parse_seeds("0-3, 2,7") == [0, 1, 2, 3, 7]
    with pytest.raises(RequestError, match="--seeds"):
        parse_seeds("one")
