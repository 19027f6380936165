import hashlib

import numpy as np
import pytest

from mhaug.checks import RequestError
from mhaug.data.benchmarks import BENCHMARKS
from mhaug.data.fingerprints import _known, check_file, fingerprint

PARTS = ("data", "indices", "indptr", "shape")


def test_every_raw_file_has_a_row():
    assert {file for benchmark in BENCHMARKS.values() for file in benchmark.files} == set(_known())


def test_fingerprint(tmp_path):
    (tmp_path / "f").write_bytes(b"abc")
    assert fingerprint(tmp_path / "f") == hashlib.sha256(b"abc").hexdigest()


def test_physics_is_taken_if_its_arrays_are_plain(tmp_path):
    file = tmp_path / "ms_academic_phy.npz"
    arrays = {f"{name}_{part}": np.zeros(1) for name in ("adj", "attr") for part in PARTS}
    np.savez(file, **arrays, labels=np.zeros(1), class_names=np.array(["a"], dtype=object))
    check_file(file, file.name)
    np.savez(file, **arrays, labels=np.array(["a"], dtype=object))
    with pytest.raises(RequestError, match=r"phy.npz must be an npz of plain arrays and is not opened; got Object"):
        check_file(file, file.name)
