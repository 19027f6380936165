"""The README is true: its table is the measured one, its commands and its Python exist."""

import re
import shlex
from pathlib import Path

import pytest
import typer

import mhaug
from mhaug.cli.app import app

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", TEXT, flags=re.DOTALL | re.MULTILINE)
COMMANDS = [line for _, block in BLOCKS for line in block.splitlines() if line.startswith("mhaug ")]


def test_the_table_is_the_one_in_results():
    shown = re.search(r"<!-- (results/\S+) -->\n(.*?)<!-- end -->", TEXT, flags=re.DOTALL)
    assert shown is not None
    assert shown[2] == (ROOT / shown[1]).read_text()


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_and_option_exists(line):
    name, *words = shlex.split(line, comments=True)[1:]
    command = typer.main.get_command(app).commands[name]
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known


def test_the_python_is_python_and_speaks_of_public_names():
    blocks = [block for kind, block in BLOCKS if kind == "python"]
    assert blocks
    for block in blocks:
        compile(block, "README.md", "exec")
        for name in re.findall(r"\bmhaug\.(\w+)", block):
            assert name in mhaug.__all__


def test_every_page_that_is_linked_is_there():
    for place in re.findall(r"\]\(([^)#]+)[^)]*\)", TEXT):
        assert (ROOT / place).exists(), place
