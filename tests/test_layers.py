"""Every import inside the package points to an earlier layer: the house has one way through it."""

import ast
from pathlib import Path

import mhaug

ROOT = Path(mhaug.__file__).parent
LAYER = {
    "checks": 0, "rng": 0, "per_replica": 0, "aside": 0, "threads": 0, "counted": 0,
    "data": 1, "sampling": 1,
    "distributed": 2,
    "augmentation": 2, "objectives": 2, "backbones": 2,
    "methods": 3,
    "training": 4, "minibatch": 4,
    "model_files": 4,
    "estimator": 5,
    "experiments": 6,
    "cli": 7,
}  # fmt: skip
# same layer, and still strangers
STRANGERS = [{"data", "sampling"}, {"objectives", "augmentation"}, {"objectives", "backbones"}]


def room(path: Path) -> str:
    relative = path.relative_to(ROOT)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imports(path: Path) -> set[str]:
    """Rooms that a file imports from, type-checking imports included."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("mhaug"):
            rooms = node.module.split(".")[1:2] or [alias.name for alias in node.names]
            found.update(rooms)
        elif isinstance(node, ast.Import):
            found.update(alias.name.split(".")[1] for alias in node.names if alias.name.startswith("mhaug."))
    return found


def test_imports_point_up_the_list():
    wrong = []
    for path in sorted(ROOT.rglob("*.py")):
        here = room(path)
        if here in ("__init__", "__main__"):
            continue
        for there in imports(path) - {here}:
            if LAYER[there] > LAYER[here] or {here, there} in STRANGERS:
                wrong.append(f"{path.relative_to(ROOT)} imports {there}")
    assert not wrong


def test_matplotlib_lives_in_experiments_only():
    users = [path for path in ROOT.rglob("*.py") if "import matplotlib" in path.read_text()]
    users += [path for path in ROOT.rglob("*.py") if "from matplotlib" in path.read_text()]
    assert {room(path) for path in users} == {"experiments"}
