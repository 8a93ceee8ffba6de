"""The benchmark harness compares what it says it compares."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

import compare  # noqa: E402
import compile_times  # noqa: E402
import contenders  # noqa: E402
import dense  # noqa: E402
import first_call  # noqa: E402
import operation_suite  # noqa: E402
import poplar_programs  # noqa: E402
import report  # noqa: E402
import run  # noqa: E402
from contenders import Row  # noqa: E402
from networks import NETWORKS  # noqa: E402
from operations.cases import all_cases  # noqa: E402


class FixedContender:
    """Makes given values in place of a process."""

    side, name = "Aspen", "fixed"

    def __init__(self, *values):
        self.values = [[value] for value in values]
        self.started_with = None
        self.worker = self

    def start(self, **changed):
        self.started_with = changed

    def ask(self, **_):
        return self.values

    def close(self):
        pass


ROW = Row("mlp", True, 32, cores=2)


def test_values_that_agree_give_their_largest_difference():
    peer, ours = FixedContender(2.0, 1.0), FixedContender(2.0, 1.0005)
    worst = compare.check_values(ROW, peer, [ours])
    assert worst == pytest.approx(5e-4)
    assert peer.started_with == ours.started_with == dict(dropout=False)


@pytest.mark.parametrize("losses", [(2.0, 1.1), (2.0, float("nan"))])
def test_values_that_differ_are_not_timed(losses):
    with pytest.raises(RuntimeError, match="before they agree"):
        compare.check_values(ROW, FixedContender(2.0, 1.0),
                             [FixedContender(*losses)])


def contender(side: str, setting: str, median: float, **facts) -> dict:
    return dict(side=side, setting=setting, medianMs=median, lowMs=median,
                highMs=median, **facts)


RESULT = dict(
    title="n, 1", target=2.0, denseMs=1.0, isIdentical=True, contenders=[
        contender("PyTorch", "slow", 5.0, tensors=1, resident=1),
        contender("PyTorch", "fast", 4.5, tensors=2e6, resident=3e6),
        contender("ONNX Runtime", "1 thread", 3.0, resident=1),
        contender("Aspen", "2 threads, 1 step a call", 2.0, arena=4e6,
                  workspaces=7e5, persistent=1e6, resident=6e6,
                  compileSeconds=0.5),
        contender("Aspen", "1 thread, 1 step a call", 3.0, arena=1,
                  workspaces=1, persistent=1, resident=1, compileSeconds=0.5)])


def test_ratio_is_of_pytorchs_best_setting_over_ours():
    assert report.facts(RESULT) == [
        "n, 1", "2 threads, 1 step a call", "2.25", "2", "ok", "0.50", "1.50",
        "yes", "0.50", "5.0", "2.0", "0.7", "6.0", "3.0"]
    assert report.rows(RESULT)[3][-1] == "2.25"
    assert report.peers(RESULT) == "\nn, 1: 1.50 times ONNX Runtime"
    assert "2.25x" in report.svg([RESULT], "a machine")


def test_every_network_has_training_and_inference_rows():
    rows = run.rows_of(list(NETWORKS), ["training", "inference"], 2)
    assert len([r for r in rows if r.is_training]) == 8
    assert {r.batch for r in rows if not r.is_training} == {1, 64}
    assert rows[-1] == Row("resnet50", False, 1, cores=2)


def test_pytorch_is_tried_in_every_setting():
    settings = {c.name for c in contenders.pytorch(ROW, None)}
    assert settings == {
        f"{kind}, {threads}{more}" for kind in ("eager", "traced")
        for threads in ("1 thread", "2 threads", "2 threads, pthread BLAS")
        for more in ("", ", foreach")}
    images = contenders.pytorch(Row("fashion-cnn", False, 1, cores=1), None)
    assert {c.name for c in images} == {
        f"{kind}, 1 thread{more}" for kind in ("eager", "traced")
        for more in ("", ", channels_last")}


def test_jax_trains_networks_that_are_layers_in_a_row():
    assert [c.name for c in contenders.jax(ROW, "python")] == [
        "1 thread", "2 threads"]
    assert contenders.jax(Row("lstm", True, 32, cores=2), "python") == []


def test_dense_operations_are_counted_forward_and_backward():
    counts = dense.cases_of(ROW)
    # Three layers, and nothing wants the gradient of the first one's input.
    assert sum(counts.values()) == 8
    assert sum(dense.cases_of(Row("mlp", False, 1, cores=2)).values()) == 3
    # Two LSTMs: a product for the inputs, one for the state at each of 64.
    lstm = dense.cases_of(Row("lstm", False, 1, cores=2))
    assert sum(lstm.values()) == 2 * (1 + 64) + 1


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
