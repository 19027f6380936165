"""What two ranks found, for all tests of this folder: they are started once, however many workers test."""

import json
import os

import pytest
from filelock import FileLock

from distributed.launch import two_ranks


@pytest.fixture(scope="session")
def found(tmp_path_factory):
    """The answers of `in_two_ranks.py`."""
    session = os.environ.get("PYTEST_XDIST_TESTRUNUID", "")
    folder = tmp_path_factory.getbasetemp()
    out = (folder.parent if session else folder) / f"two-ranks-{session}.json"
    with FileLock(f"{out}.lock"):
        if not out.exists():
            two_ranks("in_two_ranks.py", str(out))
    return json.loads(out.read_text())
