"""What several test folders share."""

import os
from pathlib import Path

import pytest
import torch

# tests run side by side, one to a core; more threads would only wait for each other
torch.set_num_threads(1)

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def benchmark_data() -> Path:
    """The folder with the raw benchmark files; tests that need it are skipped where it is missing."""
    folder = Path(os.environ.get("MHAUG_DATA") or SHARED_DATA)
    if not (folder / "Cora" / "raw").is_dir():
        pytest.skip(f"no benchmark files in {folder}; set MHAUG_DATA")
    return folder
