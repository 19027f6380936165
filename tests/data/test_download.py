import pytest

from mhaug.checks import RequestError
from mhaug.data import download


def test_wrong_file_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(download, "_fetch", lambda url, path: path.write_text("an error page"))
    with pytest.raises(RequestError, match=r"must have the sha256 23cfa55d91c6... and is not opened"):
        download.download("https://example.org", ["ind.cora.x"], tmp_path)
    assert not list(tmp_path.iterdir())


def test_from_a_file_address(tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(b"content")
    download._fetch(source.as_uri(), target)
    assert target.read_bytes() == b"content"
