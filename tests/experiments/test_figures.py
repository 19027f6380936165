"""What each figure claims, as numbers, at little effort.

Where chains are held against exact or independent numbers, a distance in standard errors has about the law of
Student's t (chain to chain) or of the normal, and a chi-squared test that of its name; the limit is what true
agreement breaks once in a thousand figures with fresh seeds (1e-3 for each claim). Other claims compare effects many
standard errors apart. Seeds are fixed, so that a pass is a pass for good. Negative controls must break the limits.
"""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from matplotlib.text import Text

from experiments.test_figure_parts import target_on
from mhaug.experiments.figures import canvas, catalogue
from mhaug.experiments.figures.agreement import agreement_claims, compared
from mhaug.experiments.figures.delivered import _steps
from mhaug.experiments.figures.fixed_count import Effort
from mhaug.experiments.figures.grid import exact
from mhaug.experiments.figures.request import Request

RESULTS = Path(__file__).parents[2] / "results" / "figures"
LITTLE = {
    "ego-change": {},
    "ego-graph": {
        "effort": Effort(chains=2, draws=150, warmup=100),
        "flat": Effort(chains=4, draws=300, warmup=5, rounds=8),
        "others": 0,
    },
    "count-term": {"nodes": 40, "draws": 250, "warmup": 300, "independent": 1000},
    "grid": {"chains": 8, "draws": 1500, "independent": 20_000, "large": (5, 5)},
    "mixing": {"spreads": (0.2, 1.0), "draws": 250, "warmup": 100},
    "delivered": {"strengths": (0.0, 0.5, 1.0), "draws": 100, "warmup": 100},
}


@cache
def record(name, data_dir=None):
    """At little effort; on toy graphs, but for Cora's ego-graph."""
    dataset = {"ego-graph": "cora", "mixing": "planted-partition"}.get(name, "grid")
    return catalogue.measure(name, Request(dataset=dataset, data_dir=data_dir), **LITTLE[name])


def test_figure_2_has_the_numbers_of_the_caption():
    numbers = record("ego-change")
    centre = {panel: held[0] for panel, held in numbers["messages"].items()}
    assert centre == {"start": 1, "hop-1": 4, "hop-2": 15, "far": 13, "near": 6}
    assert numbers["ego_change"] == {"hop-2": 0.0, "far": pytest.approx(2 / 15), "near": pytest.approx(0.6)}


@pytest.mark.parametrize("name", ["count-term", "grid", "mixing"])
def test_the_claims_hold(name):
    assert [claim["claim"] for claim in record(name)["claims"] if not claim["holds"]] == []


def test_the_claims_about_cora_hold(benchmark_data):
    numbers = record("ego-graph", benchmark_data)
    assert [claim["claim"] for claim in numbers["claims"] if not claim["holds"]] == []
    assert len(numbers["claims"]) == 9
    assert numbers["node"] == 194
    assert all(len(target["sample_dropped"]) == 8 for target in numbers["targets"].values())
    assert numbers["targets"]["flat"]["drop_probability"] == pytest.approx([8 / 41] * 41, abs=0.06)
    # what is shown is what is usual
    for target in numbers["targets"].values():
        assert len(target["sample_reaches"]) == pytest.approx(target["nodes_left"], abs=2)


def test_chains_of_another_target_are_noticed():
    """A negative control of Figure 5: the chains of σ = 0.3 against the law of σ = 0.33."""
    numbers = next(row for row in record("grid")["grids"] if row["columns"] == 4 and row["count_weight"] == 0)
    mean, error = np.array(numbers["chain"]), np.array(numbers["chain_error"])
    # eight rows with this mean and this standard error
    by_chain = mean + np.sqrt(7) * error * np.array([[1], [-1]] * 4)
    right, wrong = (compared(by_chain, exact(target_on(3, 4, 0.0, spread, 0.0))) for spread in (0.3, 0.33))
    assert right["root_mean_square_in_errors"] == pytest.approx(numbers["root_mean_square_in_errors"], rel=1e-6)
    assert not any(claim["holds"] for claim in agreement_claims("", wrong, 8))


def test_delivered_follows_asked():
    rows = [row for row in record("delivered")["rows"] if row["spread"] == 0.3]
    for part in ("edges", "nodes"):
        delivered = [row["delivered"] for row in rows if row["part"] == part]
        assert delivered[0] < 0.05 < 0.4 < delivered[1] < 0.6 < 0.9 < delivered[2]


@pytest.mark.parametrize("name", list(LITTLE))
def test_every_figure_is_drawn_from_its_numbers_alone(name, tmp_path, request):
    """Twice, the second time from the file that the first wrote: the same image, but for six digits."""
    place = [request.getfixturevalue("benchmark_data")] if name == "ego-graph" else []
    first, second = tmp_path / "first.png", tmp_path / "second.png"
    numbers = catalogue.write(record(name, *place), first)
    catalogue.write(json.loads(numbers.read_text()), second)
    assert second.with_suffix(".json").read_text() == numbers.read_text()
    pixels = [imread(path)[..., :3] for path in (first, second)]
    assert pixels[0].min() < 0.3 < 0.9 < pixels[0].max()  # ink on white
    assert np.abs(pixels[0] - pixels[1]).mean() < 1e-3


def test_steps_are_counted_in_standard_errors():
    """0 to 0.3 with errors 0.03 and 0.04 is six of 0.05; what does not move at all has none."""
    rows = [{"delivered": 0.0, "error": 0.03}, {"delivered": 0.3, "error": 0.04}, {"delivered": 0.38, "error": None}]
    assert _steps(rows).tolist() == pytest.approx([6.0, 2.0])


def test_what_is_no_number_is_null(tmp_path):
    numbers = {**record("ego-change"), "settings": {"nothing": float("nan"), "never": [float("inf"), 1.0]}}
    written = catalogue.write(numbers, tmp_path / "x.png").read_text()
    assert json.loads(written, parse_constant=pytest.fail)["settings"] == {"nothing": None, "never": [None, 1.0]}


@pytest.mark.parametrize("name", ["ego-change", "count-term", "grid", "mixing", "delivered"])
def test_text_is_read_in_print_and_where_a_telephone_scrolls(name):
    """Seven inches wide, no word under eight points."""
    with canvas.at_print_size():
        picture = catalogue._module(catalogue.FIGURES[name]).draw(record(name))
        picture.draw_without_rendering()
    assert picture.get_figwidth() == canvas.WIDTH
    words = [text for text in picture.findobj(Text) if text.get_text().strip() and text.get_visible()]
    assert min(text.get_fontsize() for text in words) >= 8


def test_the_figures_in_results_hold_their_claims():
    """The records beside the printed images, which took more effort than a test may."""
    for name in LITTLE:
        numbers = json.loads((RESULTS / f"{name}.json").read_text(), parse_constant=pytest.fail)
        assert numbers["claims"]
        assert [claim["claim"] for claim in numbers["claims"] if not claim["holds"]] == []
        assert (RESULTS / f"{name}.png").is_file()


def test_same_seed_same_numbers():
    fast, rows = {"spreads": (1.0, 0.1), "draws": 20, "warmup": 10}, []
    for seed in (3, 3, 4):
        found = catalogue.measure("mixing", Request(seed=seed, dataset="grid"), **fast)["rows"]
        rows.append([{key: value for key, value in row.items() if key != "seconds"} for row in found])
    assert rows[0] == rows[1] != rows[2]
