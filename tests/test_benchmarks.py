"""The benchmark harness compares what it says it compares."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

import poplar_programs  # noqa: E402
import run  # noqa: E402


class FixedWorker:
    def __init__(self, losses):
        self.losses = losses

    def ask(self, **_):
        return self.losses


def contender(losses):
    return run.Contender("x", {}, {}, worker=FixedWorker(losses))


def test_values_that_agree_give_their_largest_difference():
    worst = run.check_values([contender([2.0, 1.0])],
                             [contender([2.0, 1.0005])])
    assert worst == pytest.approx(5e-4)


@pytest.mark.parametrize("losses", [[2.0, 1.1], [2.0, float("nan")]])
def test_values_that_differ_are_not_timed(losses):
    with pytest.raises(RuntimeError, match="differ from PyTorch"):
        run.check_values([contender([2.0, 1.0])], [contender(losses)])


def test_ratio_is_of_pytorchs_best_setting_over_ours():
    result = dict(
        network="n", batch=1,
        pytorch=[dict(setting="a", bestMs=3.0, medianMs=5.0),
                 dict(setting="b", bestMs=4.0, medianMs=4.5)],
        aspen=[dict(setting="c", bestMs=1.5, medianMs=9.0)])
    assert run.rows(result)[-1][-2:] == ["2.00", "0.50"]


def test_figures_of_programs_are_held_against_their_limits():
    rows = poplar_programs.rows({
        "vertex_bandwidth": {"plain_GBps": 20.0, "ratio": 0.65},
        "repeat_execute": {"ns_per_iteration": 150.0}})
    assert rows == [
        ["vertex_bandwidth", "plain_GBps", "20", "", ""],
        ["vertex_bandwidth", "ratio", "0.65", ">= 0.7", "MISSED"],
        ["repeat_execute", "ns_per_iteration", "150", "< 200", "ok"]]
