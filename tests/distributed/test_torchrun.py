"""`torchrun --nproc-per-node 2 -m mhaug train`: a rank that dies, one clear message, and going on from there."""

import json
import os
import re
import shutil
import signal
import sys
import time

import pytest

from cli.test_sample import run
from distributed.cases import SPEC
from distributed.launch import LIMIT, finish, process_of_rank, torchrun
from mhaug.checks import RequestError
from mhaug.distributed import torchrun as torchrun_module
from mhaug.distributed.torchrun import joined, local_device
from mhaug.distributed.world import World

TRAIN = [
    "train",
    "--dataset",
    SPEC.dataset,
    "--set",
    "max_updates=120",
    "--set",
    "hidden=8",
    "--checkpoint-every",
    "20",
]


def test_alone_there_is_no_group(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with joined() as world:
        assert world == World.alone()
    assert local_device("cpu") == "cpu"
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert (local_device("cuda"), local_device("cuda:1"), local_device("cpu")) == ("cuda:3", "cuda:1", "cpu")


def test_a_missing_gpu_is_said_once(monkeypatch):
    """Two ranks, one after the other, with a store between them: both exit with status 2, and one says why."""
    from torch.distributed import HashStore

    store, ranks = HashStore(), iter([0, 1])
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr(torchrun_module, "GRACE", 0.0)
    meeting = sys.modules["torch.distributed.rendezvous"]
    monkeypatch.setattr(meeting, "rendezvous", lambda *_, **__: iter([(store, next(ranks), 2)]))
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    with pytest.raises(RequestError, match="'device' must be a GPU for each rank of this machine; got '0 GPUs'"):
        joined("cuda:0").__enter__()
    with pytest.raises(SystemExit) as silent:
        joined("cuda:1").__enter__()
    assert silent.value.code == 2


def test_other_commands_are_for_one_process(monkeypatch, capsys):
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert run("datasets") == 2
    line = "mhaug: torchrun must be given 'mhaug train', the command for several ranks; got 'datasets'\n"
    assert capsys.readouterr().err == line


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds the ranks in /proc")
def test_a_rank_dies_and_any_number_of_ranks_goes_on(found, tmp_path, capsys):
    out = tmp_path / "run"
    checkpoint = out / "seed-0" / "checkpoint.safetensors"
    job = torchrun(*TRAIN, "--out", str(out))
    deadline = time.monotonic() + LIMIT
    while not checkpoint.exists() and time.monotonic() < deadline:
        time.sleep(0.005)
    os.kill(process_of_rank(job, 1), signal.SIGKILL)
    status, shown, err = finish(job)
    lines = [line for line in err.splitlines() if line.startswith("mhaug:")]
    assert status != 0
    assert shown == ""
    assert len(lines) == 1, err
    # by itself, or because torchrun was first
    assert re.match(r"mhaug: rank 0 of 2 (lost another rank|was told to stop) \(", lines[0])
    assert lines[0].endswith(
        f"; the run ends here, start it again to go on from {checkpoint}, on any number of ranks"
    )
    alone = shutil.copytree(out, tmp_path / "alone")

    # two ranks go on: one JSON object, and the numbers of a run that was never stopped
    status, shown, err = finish(torchrun(*TRAIN, "--out", str(out), "--json"))
    assert status == 0, err
    (record,) = json.loads(shown)["runs"]
    assert (record["ranks"], record["updates"]) == (2, 120)
    assert record["steps"] >= 240
    assert record["test_accuracy"] == found["run"]["test"]
    assert json.loads((out / "seed-0" / "record.json").read_text())["history"]["loss_total"] == found["run"]["loss"]

    # and so does one alone
    assert run(*TRAIN, "--out", str(alone), "--json") == 0
    (record,) = json.loads(capsys.readouterr().out)["runs"]
    assert (record["ranks"], record["updates"]) == (1, 120)
