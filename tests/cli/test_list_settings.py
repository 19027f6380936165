import json

from cli.test_sample import run


def test_every_setting_with_its_value_and_its_range(capsys):
    """`learning_rate` is a preset of every graph, `hops` a default that is never searched."""
    assert run("settings", "--method", "mh-aug", "--backbone", "gat", "--dataset", "cora", "--json") == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["settings"]}
    assert rows["learning_rate"] == {
        "name": "learning_rate",
        "value": 0.01,
        "preset": True,
        "searched": [0.005, 0.01, 0.02],
    }
    assert rows["hops"] == {"name": "hops", "value": 2, "preset": False, "searched": None}
    assert rows["edge_ego_weight"]["value"] == 5.0
    assert rows["heads"]["value"] == 8
    assert run("settings", "--method", "vanilla") == 0
    words = capsys.readouterr().out
    assert "0.005, 0.01, 0.02" in words
    assert "edge_strength" not in words
    for wrong in ("method", "dataset"):
        assert run("settings", f"--{wrong}", "magic") == 2
        assert f"'{wrong}' must be one of" in capsys.readouterr().err
