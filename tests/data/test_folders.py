from pathlib import Path

import pytest

from mhaug.checks import RequestError
from mhaug.data.folders import cache_folder, data_folder, making, replacing


def test_order_of_places(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("MHAUG_DATA", raising=False)
    assert data_folder(None) == cache_folder() == tmp_path / "mhaug"
    (tmp_path / "environment").mkdir()
    monkeypatch.setenv("MHAUG_DATA", str(tmp_path / "environment"))
    assert data_folder(None) == tmp_path / "environment"
    assert data_folder(tmp_path) == tmp_path


def test_home_without_xdg(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == Path.home() / ".cache" / "mhaug"


def test_environment_that_is_no_folder(monkeypatch):
    monkeypatch.setenv("MHAUG_DATA", "/no/such/folder")
    with pytest.raises(RequestError, match="'MHAUG_DATA' must be an existing folder; got '/no/such/folder'"):
        data_folder(None)


def test_replacing_is_all_or_nothing(tmp_path):
    target = tmp_path / "deep" / "file"
    with replacing(target) as partial:
        partial.write_text("new")
        assert not target.exists()
    assert target.read_text() == "new"

    def fail_half_way():
        with replacing(target) as partial:
            partial.write_text("half")
            raise OSError

    with pytest.raises(OSError):  # noqa: PT011
        fail_half_way()
    assert [path.name for path in target.parent.iterdir()] == ["file"]
    assert target.read_text() == "new"


def test_a_relative_path_is_that_of_the_beginning(tmp_path, monkeypatch):
    """Whatever becomes the current folder meanwhile."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with making(Path("folder")) as partial:
        (partial / "file").write_text("whole")
        monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.chdir(tmp_path)
    with replacing(Path("file")) as partial:
        partial.write_text("new")
        monkeypatch.chdir(tmp_path / "elsewhere")
    assert (tmp_path / "folder" / "file").read_text() == "whole"
    assert (tmp_path / "file").read_text() == "new"
    assert not any((tmp_path / "elsewhere").iterdir())
