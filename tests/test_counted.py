"""How far work is, where there is no terminal."""

import re

from mhaug import EgoTerm, MHAug, counted
from mhaug.data.toy_graphs import grid_graph


def test_lines_say_how_much_is_done(capsys, monkeypatch):
    monkeypatch.setattr(counted, "EVERY", 0.0)
    assert list(counted.counted("abc", 3, "letters", shown=True)) == ["a", "b", "c"]
    said = capsys.readouterr().err.splitlines()
    assert [re.sub(r"^\S+ \S+ ", "", line) for line in said] == [f"letters: {done} of 3" for done in range(3)]


def test_short_work_says_nothing_and_nor_does_what_is_not_to_be_shown(capsys, monkeypatch):
    assert list(counted.counted("abc", 3, "letters", shown=True)) == ["a", "b", "c"]
    monkeypatch.setattr(counted, "EVERY", 0.0)
    assert list(counted.counted("abc", 3, "letters", shown=False)) == ["a", "b", "c"]
    assert capsys.readouterr().err == ""


def test_sampling_is_counted(capsys, monkeypatch):
    monkeypatch.setattr(counted, "EVERY", 0.0)
    MHAug(edges=EgoTerm()).sample(grid_graph(3, 3), draws=5, warmup=2, chains=1, progress=True)
    assert capsys.readouterr().err.splitlines()[-1].endswith("draws: 4 of 5")
