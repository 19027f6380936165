"""Freed blocks stay with the process: filling a new one meets no new pages."""

import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource, torch
from mhaug.training.memory import keep_pages
def faults(blocks=20):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(blocks):
        torch.ones(2**24)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
given_back = faults()
print(keep_pages(), given_back, (faults(), faults())[1])  # the first blocks are new ones
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc's allocator is told")
def test_pages_are_kept():
    """Twenty blocks of 64 MB are 16,384 pages each, unless they are the same ones."""
    words = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True).stdout.split()
    assert words[0] == "True"
    assert int(words[1]) > 10 * max(int(words[2]), 1)
