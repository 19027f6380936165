"""The table: chosen on validation alone, compared seed by seed, beside the paper's numbers."""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import wilcoxon

from experiments.some_records import record, runs
from mhaug.checks import RequestError
from mhaug.experiments.chosen_settings import choose
from mhaug.experiments.paper_table import CellKey, paper_table
from mhaug.experiments.significance import paired_p_value, signed_rank_p_value
from mhaug.experiments.store import read_records
from mhaug.experiments.table import table_of
from mhaug.experiments.table_files import write_files
from mhaug.experiments.table_formats import CSV_COLUMNS, csv_text, latex, markdown
from mhaug.experiments.table_html import table_page
from mhaug.experiments.table_short import short_markdown
from mhaug.experiments.table_words import notes

RESULTS = Path(__file__).parents[2] / "results" / "table1"


def cell_of(table, *key):
    return next(cell for cell in table.cells if cell.key == key)


def test_the_paper_in_our_names():
    paper = paper_table()
    assert len(paper) == 155
    assert paper[CellKey("gcn", "mh-aug", "cora")].mean == 85.16
    assert paper[CellKey("sage", "graph-mix", "cs")].std == 0.45
    assert paper[CellKey("gat", "ada-edge", "cora")].copied
    assert str(paper[CellKey("gcn", "gaug-o", "computers")]) == "OOM"
    assert CellKey("gat", "bvat", "cora") not in paper
    empty = [number.note for number in paper.values() if number.mean is None]
    assert (empty.count("OOM"), empty.count("not reported")) == (9, 9)


def test_a_cell_by_hand():
    cell = cell_of(table_of(runs([0.80, 0.81, 0.82])), "gcn", "vanilla", "cora")
    assert cell.mean == pytest.approx(81.0)
    assert cell.std == pytest.approx(1.0)  # of a sample: sqrt((1 + 0 + 1) / 2)
    assert cell.difference == pytest.approx(81.0 - 81.54)
    assert cell.runs == 3
    assert not cell.best  # of one there is no best
    assert cell_of(table_of([record(0.8)]), "gcn", "vanilla", "cora").std is None


def test_validation_chooses_and_test_does_not():
    good_test = runs([0.90, 0.91, 0.92], validation=0.70, settings={"dropout": 0.1})
    good_validation = runs([0.80, 0.81, 0.82], validation=0.75, settings={"dropout": 0.2})
    for records in (good_test + good_validation, good_validation + good_test):
        table = table_of(records)
        assert table.cells[0].mean == pytest.approx(81.0)
        assert "gcn vanilla cora (1 of 2)" in " ".join(notes(table))
    # whatever the test labels are, the choice is the same
    corrupted = runs([0.0, 0.0, 0.0], validation=0.75, settings={"dropout": 0.2})
    assert choose(good_test + corrupted).records == tuple(corrupted)


def test_smoothed_validation_chooses_where_all_runs_have_it():
    """Settings that scatter have the larger best accuracy, and the smaller smoothed one."""
    scattered = runs([0.7, 0.7], validation=0.85, smoothed_validation_accuracy=0.78, settings={"dropout": 0.1})
    steady = runs([0.8, 0.8], validation=0.83, smoothed_validation_accuracy=0.82)
    assert choose(scattered + steady).records == tuple(steady)
    of_earlier_versions = runs([0.8, 0.8], validation=0.83)
    assert choose(scattered + of_earlier_versions).records == tuple(scattered)


def test_settings_with_fewer_seeds_are_left_aside():
    full = runs([0.80, 0.81, 0.82], validation=0.70)
    lucky = runs([0.85], validation=0.99, settings={"dropout": 0.1})
    choice = choose(lucky + full)
    assert choice.records == tuple(full)
    assert (choice.compared, choice.left_aside) == (1, 1)
    assert "Left aside: 1 settings" in " ".join(notes(table_of(lucky + full)))


def test_means_of_validation_are_taken_over_the_same_seeds():
    """Seed 9 is an easy split: that only one of the two settings met it must not help."""
    steady = [record(0.8, seed=seed, validation=0.80) for seed in (0, 1, 2)]
    easy = [
        record(0.8, seed=s, validation=v, settings={"dropout": 0.1}) for s, v in ((0, 0.79), (1, 0.79), (9, 0.99))
    ]
    assert choose(easy + steady).records == tuple(steady)


def test_repeated_runs_count_once_and_other_splits_not_at_all():
    table = table_of([*runs([0.80, 0.82]), record(0.80, seed=0), record(0.5, seed=3, split="random")])
    assert table.cells[0].runs == 2
    assert table.left_out == 1
    with pytest.raises(RequestError, match="must hold finished runs"):
        table_of([record(0.5, split="random")])


def test_the_best_is_compared_with_the_runner_up_seed_by_seed():
    low, middle = runs([0.70] * 6), runs([0.80, 0.81, 0.82, 0.83, 0.84, 0.85], method="uda")
    high = runs([0.81, 0.83, 0.85, 0.87, 0.89, 0.91], method="mh-aug")
    table = table_of(high + low + middle)
    assert [cell.key.method for cell in table.cells] == ["vanilla", "uda", "mh-aug"]
    best = cell_of(table, "gcn", "mh-aug", "cora")
    assert (best.best, best.rival, best.clearly_best) == (True, "uda", True)
    assert best.p_value == pytest.approx(2 / 2**6)  # six differences of one sign
    assert cell_of(table, "gcn", "vanilla", "cora").rival == "mh-aug"


def test_signed_ranks_by_hand():
    def p(differences):
        return paired_p_value(dict(enumerate(differences)), dict.fromkeys(range(len(differences)), 0.0))

    # ranks 1, 2, 3 and one negative of rank 1: 4 of 8 sign patterns are at least as far out
    assert p([-1.0, 2.0, 3.0]) == pytest.approx(4 / 8)
    assert p([0.0, 0.0, 0.0]) == 1.0
    assert p([1.0]) is None
    # equal steps tie although their floats differ: all of rank 2, so -1 is as far as any other single sign
    assert p([82.6 - 81.6, 81.6 - 80.6, 80.6 - 81.6]) == pytest.approx(1.0)
    assert paired_p_value({0: 1.0, 1: 2.0}, {5: 1.0, 6: 1.0}) is None


@pytest.mark.parametrize("pairs", [5, 8, 10])
def test_signed_ranks_against_scipy(pairs):
    rng = np.random.default_rng(pairs)
    for differences in (rng.normal(0.3, 1.0, pairs), rng.choice([-2.0, -1.0, 1.0, 2.0, 3.0], pairs)):
        assert signed_rank_p_value(differences) == pytest.approx(wilcoxon(differences).pvalue)


def test_rows_and_columns_stand_in_the_order_of_the_paper():
    methods = ["mh-aug", "vanilla", "grand", "drop-node", "ssl", "mh-aug-no-reg", "uda"]
    records = [
        record(0.8, method=method, backbone=backbone, dataset=dataset)
        for backbone in ("gat", "gcn", "sage") for method in methods for dataset in ("cs", "digits", "cora", "photo")
    ]  # fmt: skip
    table = table_of(records)
    assert table.backbones == ["gcn", "sage", "gat"]
    assert table.datasets == ["cora", "photo", "cs", "digits"]
    assert list(table.block("sage")) == ["vanilla", "drop-node", "mh-aug-no-reg", "ssl", "uda", "grand", "mh-aug"]


def test_what_the_paper_leaves_empty_is_filled_by_ours():
    table = table_of(runs([0.8, 0.8], method="ssl", dataset="photo"))
    row = next(csv.DictReader(csv_text(table).splitlines()))
    assert list(row) == list(CSV_COLUMNS)
    assert (row["mean"], row["std"], row["runs"], row["paper_mean"], row["difference"]) == (
        "80.0",
        "0.0",
        "2",
        "",
        "",
    )
    assert "80.00 ± 0.00<br>paper not reported<br>2 runs" in markdown(table)


def test_the_whole_table_of_the_paper():
    table = table_of(runs([0.8, 0.81]), whole=True)
    assert len(table.cells) == 155
    rows = list(csv.DictReader(csv_text(table).splitlines()))
    assert [row["runs"] for row in rows].count("0") == 154
    assert rows[1] == {**dict.fromkeys(CSV_COLUMNS, ""), "backbone": "gcn", "method": "vanilla", "runs": "0",
                       "dataset": "citeseer", "paper_mean": "71.64", "paper_std": "0.31"}  # fmt: skip


def test_every_format_says_the_same():
    table = table_of(runs([0.80, 0.81, 0.82], method="ada-edge") + runs([0.83, 0.84, 0.85], method="mh-aug"))
    md, tex, html = markdown(table), latex(table), table_page(table)
    assert "**84.00 ± 1.00**<br>paper 85.16 ± 0.35 (−1.16)<br>3 runs, p – vs ada-edge (3 shared seeds)" in md
    assert "paper 82.30 ± 0.80† (−1.30)" in md
    assert r"\textbf{84.00 $\pm$ 1.00}" in tex
    assert r"82.30$^\dagger$ ($-$1.30)" in tex
    assert tex.count(r"\begin{tabular}") == tex.count(r"\end{tabular}") == 1
    assert "<strong>84.00 ± 1.00</strong>" in html
    assert "http" not in html.replace("http-equiv", "")
    short = short_markdown(table).splitlines()
    assert short[0] == "| network | method | cora |"
    assert "| gcn | mh-aug | **84.00 ± 1.00** (85.16) |" in short


def test_a_cell_with_fewer_seeds_does_not_compete():
    """The two lucky seeds of one method are no reason to call it the best, nor to compare the others with it."""
    whole = runs([0.80, 0.81, 0.82, 0.83], method="uda") + runs([0.79, 0.80, 0.81, 0.82])
    lucky = runs([0.90, 0.91], method="mh-aug")
    table = table_of(whole + lucky)
    best, part = cell_of(table, "gcn", "uda", "cora"), cell_of(table, "gcn", "mh-aug", "cora")
    assert (best.best, best.rival, best.competes) == (True, "vanilla", True)
    assert (part.best, part.rival, part.competes, part.shared) == (False, "uda", False, 2)
    md, tex, html = markdown(table), latex(table), table_page(table)
    assert "90.50 ± 0.71‡<br>paper 85.16 ± 0.35 (+5.34)<br>2 runs, p – vs uda (2 shared seeds)" in md
    assert "**81.50" in md
    assert r"90.50 $\pm$ 0.71$^\ddagger$" in tex
    assert "90.50 ± 0.71‡" in html
    assert "‡: fewer seeds than others of its column." in " ".join(notes(table))
    assert "‡" not in " ".join(notes(table_of(whole)))


def test_without_shared_seeds_there_is_no_p_and_the_reason_is_shown():
    others = [record(0.8, seed=seed, method="uda") for seed in (5, 6)]
    table = table_of(runs([0.7, 0.71]) + others)
    assert "2 runs, p – vs vanilla (0 shared seeds)" in markdown(table)
    assert "n 2, p --" in latex(table)
    assert "p –: fewer than six seeds are shared with the best other method." in notes(table)


@pytest.mark.parametrize(("seeds", "shown"), [(5, "p – vs vanilla (5 shared seeds)"), (6, "p 0.031 vs vanilla")])
def test_a_p_of_so_few_seeds_that_it_tells_nothing_is_not_shown(seeds, shown):
    steps = [0.01 * seed for seed in range(seeds)]
    table = table_of(runs([0.7 + step for step in steps]) + runs([0.8 + 2 * step for step in steps], method="uda"))
    assert shown in markdown(table)


def test_names_of_others_are_words_in_every_format():
    name = r"a|b<c>&d$e_{f}^~\g.npz"
    table = table_of(runs([0.8, 0.81], dataset=name) + runs([0.7, 0.7], dataset=name, settings={"dropout": 0.1}))
    assert r"a\|b&lt;c>&amp;d$e_{f}^~\\g.npz" in markdown(table)
    head = markdown(table).splitlines()[2]
    assert head.replace(r"\|", "").count("|") == 3
    assert short_markdown(table).splitlines()[0].replace(r"\|", "").count("|") == 4
    assert r"a\textbar{}b$<$c$>$\&d\$e\_\{f\}\textasciicircum{}\textasciitilde{}\textbackslash{}g.npz" in latex(table)
    assert "a|b&lt;c&gt;&amp;d$e_{f}^~\\g.npz" in table_page(table)


def test_the_table_in_results_is_made_of_the_runs_in_results(tmp_path):
    """Where this fails: mhaug table --out results/table1."""
    files = write_files(table_of(read_records(RESULTS)), tmp_path)
    stale = [path.name for path in files if path.read_text() != (RESULTS / path.name).read_text()]
    assert stale == []
