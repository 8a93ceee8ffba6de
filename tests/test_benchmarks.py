"""The benchmark harness compares what it says it compares."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

import compile_times  # noqa: E402
import first_call  # noqa: E402
import operation_suite  # noqa: E402
import poplar_programs  # noqa: E402
import run  # noqa: E402
from operations.cases import all_cases  # noqa: E402


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


def test_compilations_are_held_against_their_limits_pass_by_pass():
    rows = compile_times.rows({"bert-large": dict(
        seconds=61.0, GiB=3.5, weightsGiB=0.7,
        passes={"prune": 1.0, "lift": 60.0})})
    assert rows == [
        ["bert-large", "all", "61.000", "< 60", "MISSED"],
        ["bert-large", "GiB beyond 0.70 of weights", "3.50", "< 4", "ok"],
        ["bert-large", "lift", "60.000", "", ""],
        ["bert-large", "prune", "1.000", "", ""],
        ["bert-large", "the others", "0.000", "", ""]]


def test_first_results_come_soon():
    results = first_call.run(processes=2)
    # The bench has the limits; other work on the machine must not fail this.
    for figure, seconds in results.items():
        assert seconds < 4 * first_call.LIMITS[figure], figure
    assert [row[1] for row in first_call.rows(results)] == list(
        first_call.LIMITS)


def answer(*samples: float) -> dict:
    size = sum(map(abs, samples)) / len(samples)
    return dict(outputs=[dict(samples=list(samples), meanSize=size)])


def test_operations_are_timed_when_all_sides_agree():
    assert operation_suite.mistake(dict(
        aspen=answer(1.0, 3.0), oneDNN=dict(skip="not there"),
        PyTorch=answer(1.0, 3.0001))) == ""


@pytest.mark.parametrize("ours, message", [
    (answer(1.0, 3.1), "differs from PyTorch by 5.0e-02"),
    (dict(outputs=[dict(samples=[None, 3.0], meanSize=None)]),
     "differs from PyTorch by nan"),
    (dict(skip="no such kind"), "no such kind"),
])
def test_operations_that_are_wrong_are_not_timed(ours, message):
    assert operation_suite.mistake(
        dict(aspen=ours, PyTorch=answer(1.0, 3.0))) == message


def test_ratio_of_an_operation_is_of_the_best_peer_over_ours():
    results = [dict(group="g", name="fast", threads=1,
                    seconds=dict(aspen=2e-6, oneDNN=4e-6, PyTorch=3e-6)),
               dict(group="g", name="slow", threads=1,
                    seconds=dict(aspen=4e-6, PyTorch=3e-6)),
               dict(group="g", name="wrong", threads=1, mistake="differs")]
    assert [row[-2:] for row in operation_suite.rows(results)] == [
        ["1.50", "ok"], ["0.75", "MISSED"], ["0.00", "differs"]]
    assert operation_suite.summary(results) == (
        "g: 1 of 3 at 1 thread reach 0.9")


def test_operations_have_names_of_their_own():
    names = [(case.group, case.name) for case in all_cases()]
    assert len(set(names)) == len(names)
