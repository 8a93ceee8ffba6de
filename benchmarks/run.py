"""Times training steps of Aspen and PyTorch, side by side in one run.

For each network: PyTorch is tried in every setting that might be its best; both
sides train from the same weights on the same batches and must agree on the
losses; then the best settings and Aspen take turns, round by round, each with
the machine to itself. A ratio above 1 means that Aspen is faster. Then the
single operations of operation_suite.py, the Poplar programs of
poplar_programs.py and the compilations of compile_times.py. Results go to
build/bench/.
"""

import argparse
import json
import os
import platform
import statistics
import sys
from dataclasses import dataclass, field
from pathlib import Path

import blas
import compile_times
import first_call
import operation_suite
import poplar_programs
import torch
from networks import NETWORKS
from process import Process
from tables import table

HERE = Path(__file__).resolve().parent
OUTPUT = HERE.parent / "build/bench"
CHUNK = 20  # updates timed together
CHECKED_UPDATES = 40
TOLERANCE = 1e-3  # relative, on the losses of those updates


def start_worker(settings: dict, environment: dict, stderr=None) -> Process:
    return Process([sys.executable, HERE / "worker.py", json.dumps(settings)],
                   environment, stderr)


@dataclass
class Contender:
    name: str
    settings: dict
    environment: dict
    worker: Process | None = None
    figures: list[float] = field(default_factory=list)  # seconds per update

    def start(self):
        self.worker = start_worker(self.settings, self.environment)

    def close(self):
        self.worker.close()
        self.worker = None

    def time(self, seconds: float):
        self.figures += self.worker.ask(seconds=seconds)

    @property
    def best(self) -> float:
        return min(self.figures)

    @property
    def median(self) -> float:
        return statistics.median(self.figures)


def pytorch_contenders(name: str, core_type: str | None) -> list[Contender]:
    contenders = []
    layouts = (False, True) if NETWORKS[name].is_image else (False,)
    cores = len(os.sched_getaffinity(0))
    for threads in sorted({1, min(2, cores), cores}):
        environment = {"OMP_NUM_THREADS": str(threads),
                       "OPENBLAS_NUM_THREADS": str(threads)}
        if core_type:
            environment["OPENBLAS_CORETYPE"] = core_type
        for traced in (False, True):
            for channels_last in layouts:
                for foreach in (False, True):
                    label = ", ".join(
                        ["traced" if traced else "eager",
                         f"{threads} thread{'s' * (threads > 1)}"]
                        + ["channels_last"] * channels_last
                        + ["foreach"] * foreach)
                    contenders.append(Contender(
                        label,
                        dict(network=name, runner="pytorch", chunk=CHUNK,
                             threads=threads, traced=traced,
                             channels_last=channels_last, foreach=foreach),
                        environment))
    return contenders


def aspen_contenders(name: str) -> list[Contender]:
    return [
        Contender(label, dict(network=name, runner="aspen", chunk=CHUNK,
                              device_iterations=iterations), {})
        for label, iterations in (("a call per batch", 1),
                                  (f"{CHUNK} device iterations", CHUNK))
    ]


def select_peers(name: str, core_type: str | None) -> list[Contender]:
    """PyTorch's fastest setting for each thread count, by a short trial."""
    contenders = pytorch_contenders(name, core_type)
    for contender in contenders:
        contender.start()
        contender.worker.ask(losses=CHUNK)  # warm up
        contender.time(0.15)
        contender.close()
    contenders.sort(key=lambda c: c.median, reverse=True)
    # Later entries overwrite earlier ones, so that the fastest stay.
    peers = list({c.settings["threads"]: c for c in contenders}.values())
    for contender in peers:
        contender.figures.clear()
        contender.start()
    return peers


def check_values(peers: list[Contender], ours: list[Contender]) -> float:
    """Largest relative difference of the losses; raises if it is too large."""
    expected = peers[0].worker.ask(losses=CHECKED_UPDATES)
    for peer in peers[1:]:
        peer.worker.ask(losses=CHECKED_UPDATES)
    worst = 0.0
    for contender in ours:
        losses = contender.worker.ask(losses=CHECKED_UPDATES)
        for loss, reference in zip(losses, expected, strict=True):
            difference = abs(loss - reference) / abs(reference)
            if not difference <= TOLERANCE:  # a NaN is not, either
                raise RuntimeError(
                    f"{contender.name}: losses {losses} differ from PyTorch's "
                    f"{expected}: nothing to time before they agree")
            worst = max(worst, difference)
    return worst


def compare(name: str, core_type, arguments) -> dict:
    peers = select_peers(name, core_type)
    ours = [] if arguments.peer_only else aspen_contenders(name)
    for contender in ours:
        contender.start()
    worst = check_values(peers, ours)
    for _ in range(arguments.rounds):
        for contender in peers + ours:
            contender.time(arguments.seconds)
    for contender in peers + ours:
        contender.close()
    return dict(network=name, batch=NETWORKS[name].batch,
                lossDifference=worst,
                pytorch=[summary(p) for p in peers],
                aspen=[summary(c) for c in ours])


def summary(contender: Contender) -> dict:
    return dict(setting=contender.name, bestMs=contender.best * 1e3,
                medianMs=contender.median * 1e3,
                samples=len(contender.figures))


def rows(result: dict) -> list[list[str]]:
    """The table's lines for one network, Aspen's with their ratios."""
    peer_best = min(p["bestMs"] for p in result["pytorch"])
    peer_median = min(p["medianMs"] for p in result["pytorch"])
    lines = []
    for side in ("pytorch", "aspen"):
        for entry in result[side]:
            ratios = ["", ""] if side == "pytorch" else [
                f"{peer_best / entry['bestMs']:.2f}",
                f"{peer_median / entry['medianMs']:.2f}"]
            lines.append([
                f"{result['network']}, {result['batch']}", side,
                entry["setting"], f"{entry['bestMs']:.3f}",
                f"{entry['medianMs']:.3f}", *ratios])
    return lines


NETWORK_HEAD = ["network, batch", "side", "setting", "best ms", "median ms",
                "ratio of bests", "ratio of medians"]
PROGRAM_HEAD = ["Poplar program", "figure", "value", "limit", "verdict"]


def write_step_profiles(names: list[str]):
    """The engine's table of steps, for each network and way to call it."""
    for name in names:
        for contender in aspen_contenders(name):
            iterations = contender.settings["device_iterations"]
            file = OUTPUT / f"{name}-{iterations}.profile.txt"
            with open(file, "w") as stderr:
                worker = start_worker(contender.settings,
                                      {"ASPEN_STEP_PROFILE": "1"}, stderr)
                worker.ask(seconds=1.0)
                worker.close()
            print(f"\nSteps of {name}, {contender.name} ({file.name}):\n"
                  f"{file.read_text()}")


def machine() -> dict:
    model = next((line.split(":")[1].strip()
                  for line in open("/proc/cpuinfo")
                  if line.startswith("model name")), platform.processor())
    return dict(cpu=model, cores=len(os.sched_getaffinity(0)),
                pytorch=torch.__version__)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("networks", nargs="*", default=list(NETWORKS), metavar="network",
        help=f"of: {', '.join(NETWORKS)}")
    add("--rounds", type=int, default=10)
    add("--seconds", type=float, default=0.3, help="per contender and round")
    add("--peer-only", action="store_true", help="time PyTorch alone")
    add("--profile", action="store_true", help="also print the step profiles")
    arguments = parser.parse_args()
    if unknown := set(arguments.networks) - set(NETWORKS):
        parser.error(f"no network {sorted(unknown)}")
    return arguments


def main():
    arguments = parse_arguments()
    OUTPUT.mkdir(parents=True, exist_ok=True)
    core_type, speed, own_speed = blas.best_core_type()
    about = machine()
    about["openblas"] = dict(coreType=core_type or "own choice",
                             gigaflops=round(speed, 1),
                             ownChoice=round(own_speed, 1))
    print(f"{about['cpu']}, {about['cores']} cores; PyTorch "
          f"{about['pytorch']}; OpenBLAS {about['openblas']['coreType']}: "
          f"{speed:.0f} GFLOP/s a core (own choice: {own_speed:.0f})")
    results = []
    for name in arguments.networks:
        print(f"{name} ...", flush=True)
        results.append(compare(name, core_type, arguments))
    text = table(NETWORK_HEAD, [line for r in results for line in rows(r)])
    operations, programs, compilations, first_calls = [], {}, {}, {}
    if arguments.networks == list(NETWORKS) and not arguments.peer_only:
        print("single operations ...", flush=True)
        operations = operation_suite.run(core_type=core_type)
        text += "\n\n" + table(operation_suite.HEAD,
                               operation_suite.rows(operations))
        text += "\n\n" + operation_suite.summary(operations)
        print("Poplar programs ...", flush=True)
        programs = poplar_programs.run()
        text += "\n\n" + table(PROGRAM_HEAD, poplar_programs.rows(programs))
        print("compilations ...", flush=True)
        compilations = compile_times.run()
        text += "\n\n" + table(compile_times.HEAD,
                               compile_times.rows(compilations))
        print("first calls ...", flush=True)
        first_calls = first_call.run()
        text += "\n\n" + table(first_call.HEAD, first_call.rows(first_calls))
    (OUTPUT / "results.json").write_text(
        json.dumps(dict(machine=about, results=results, operations=operations,
                        programs=programs, compilations=compilations,
                        firstCalls=first_calls),
                   indent=2) + "\n")
    (OUTPUT / "results.md").write_text(text + "\n")
    print(text)
    worst = max(r["lossDifference"] for r in results)
    if not arguments.peer_only:
        print(f"Losses agree to {worst:.1e} over {CHECKED_UPDATES} updates.")
    if arguments.profile and not arguments.peer_only:
        write_step_profiles(arguments.networks)


if __name__ == "__main__":
    main()
