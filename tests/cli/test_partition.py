import json
import sys

import torch

from cli.test_sample import run
from mhaug import EgoTerm, MHAug
from mhaug.data.datasets import load_graph
from mhaug.distributed.partitioned import partitioned_chain


def test_a_folder_for_a_chain_in_parts(capsys, tmp_path):
    out = tmp_path / "deep" / "divided"
    assert run("partition", "--graph", "grid", "--parts", "3", "--targets", "edges", "--out", str(out), "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["nodes"], record["edges"], record["parts"], record["targets"]) == (100, 180, 3, ["edges"])
    assert record["bytes"] == sum(path.stat().st_size for path in out.iterdir())
    sampler = MHAug(edges=EgoTerm())
    chains = [partitioned_chain(sampler, source, parts=3) for source in (out, load_graph("grid"))]
    for chain in chains:
        chain.step(rounds=2)
    assert torch.equal(*(chain.kept("edges") for chain in chains))
    # what is there is not written over, and that is said before any work
    assert run("partition", "--graph", "grid", "--out", str(out)) == 2
    assert "'folder' must be a new or an empty folder; got" in capsys.readouterr().err


def test_without_metis_there_is_one_plain_line(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    assert run("partition", "--graph", "grid", "--out", str(tmp_path / "divided")) == 0
    said = capsys.readouterr()
    assert said.err == "pymetis is not installed (pip install mhaug[large]): partitions have longer cuts\n"
    assert said.out.startswith("grid: 100 nodes")


def test_words_for_people_and_wrong_words(capsys, tmp_path):
    assert run("partition", "--graph", "grid", "--out", str(tmp_path / "divided")) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "grid: 100 nodes and 180 edges in 2 parts"
    assert shown[1].endswith(f"MiB: {tmp_path / 'divided'}")
    for words, line in (
        (["--targets", "faces"], "mhaug: 'targets' must be one of edges, nodes; got 'faces'"),
        (["--parts", "101"], "mhaug: 'parts' must be at most the number of nodes (100); got 101"),
    ):
        assert run("partition", "--graph", "grid", *words, "--out", str(tmp_path / "other")) == 2
        assert capsys.readouterr().err.strip() == line
        assert not (tmp_path / "other").exists()
    assert run("partition") == 2


def test_words_are_looked_at_before_anything_is_made(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for words, line in (
        (["--parts", "0"], "mhaug: 'parts' must be a whole number of at least 1; got 0"),
        (["--hops", "0"], "mhaug: 'hops' must be a whole number of at least 1; got 0"),
        (["--graph", "no-such-graph"], "mhaug: 'dataset' must be"),
    ):
        assert run("partition", "--graph", "grid", *words, "--out", "deep") == 2
        assert capsys.readouterr().err.startswith(line)
    assert run("partition", "--graph", "grid", "--out", ".") == 2
    assert "'folder' must be another than the current one" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())
    assert run("partition", "--graph", "grid", "--targets", "edges, nodes", "--out", "deep", "--json") == 0
    assert json.loads(capsys.readouterr().out)["targets"] == ["edges", "nodes"]
