import shutil

import pytest
import torch

from mhaug.checks import RequestError
from mhaug.data import benchmarks, download
from mhaug.data.benchmarks import BENCHMARKS, load_benchmark


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("MHAUG_DATA", raising=False)
    return tmp_path / "cache" / "mhaug"


@pytest.fixture
def own_cora(benchmark_data, tmp_path):
    """A copy of the Cora files that a test may spoil."""
    shutil.copytree(benchmark_data / "Cora", tmp_path / "data" / "Cora")
    for path in (tmp_path / "data").rglob("*"):
        path.chmod(0o755)
    return tmp_path / "data"


def contents(folder):
    return {path.relative_to(folder): path.stat().st_mtime_ns for path in folder.rglob("*")}


def offline(url, path):
    raise OSError("no network\nhere")


def test_rows_sum_to_one_and_rows_of_zeros_stay(benchmark_data):
    sums = load_benchmark("citeseer", benchmark_data).x.sum(1)
    assert int((sums == 0).sum()) == 15
    assert torch.allclose(sums[sums > 0], torch.ones(()))


def test_nothing_is_written_anywhere(own_cora, empty_cache, capfd):
    before = contents(own_cora)
    load_benchmark("cora", own_cora)
    assert contents(own_cora) == before
    assert not empty_cache.exists()
    assert capfd.readouterr() == ("", "")


def test_folder_from_the_environment(own_cora, empty_cache, monkeypatch):
    monkeypatch.setenv("MHAUG_DATA", str(own_cora))
    assert load_benchmark("cora").num_nodes == 2708


def test_folder_that_does_not_exist(tmp_path):
    with pytest.raises(RequestError, match=r"'root' must be an existing folder; got '.*typo'"):
        load_benchmark("cora", tmp_path / "typo")


def test_changed_pickle_is_refused_before_it_is_opened(own_cora, empty_cache, monkeypatch):
    with (own_cora / "Cora" / "raw" / "ind.cora.x").open("ab") as file:
        file.write(b"!")
    monkeypatch.setattr(benchmarks, "_read", lambda *args: pytest.fail("the file was opened"))
    with pytest.raises(RequestError, match=r"ind.cora.x must have the sha256 23cfa55d91c6... and is not opened; got"):
        load_benchmark("cora", own_cora)


def test_offline(tmp_path, empty_cache, monkeypatch):
    monkeypatch.setattr(download, "_fetch", offline)
    message = (
        r"dataset 'physics' needs the files ms_academic_phy.npz in the folder .*/Physics/raw, .*; got no network"
    )
    with pytest.raises(RequestError, match=message) as caught:
        load_benchmark("physics", tmp_path)
    assert "\n" not in str(caught.value)
    assert str(tmp_path / "Physics" / "raw") in str(caught.value)


def test_only_missing_files_are_named(own_cora, empty_cache, monkeypatch):
    (own_cora / "Cora" / "raw" / "ind.cora.x").unlink()
    monkeypatch.setattr(download, "_fetch", offline)
    with pytest.raises(RequestError, match=r"needs the files ind.cora.x in the folder"):
        load_benchmark("cora", own_cora)


def test_download_goes_to_the_cache_and_is_used_from_there(benchmark_data, tmp_path, empty_cache, monkeypatch):
    asked = []

    def copy(url, path):
        asked.append(url.rsplit("/", 1)[1])
        shutil.copyfile(benchmark_data / "Photo" / "raw" / asked[-1], path)

    monkeypatch.setattr(download, "_fetch", copy)
    given = tmp_path / "given"
    given.mkdir()
    assert load_benchmark("photo", given).num_nodes == 7650
    assert load_benchmark("photo").num_nodes == 7650
    assert asked == list(BENCHMARKS["photo"].files)
    assert not list(given.iterdir())
    assert [path.name for path in (empty_cache / "Photo" / "raw").iterdir()] == asked
