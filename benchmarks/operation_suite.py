"""Times single operations: the engine against oneDNN's primitives and PyTorch.

Each side is a process that runs what operations/cases.py describes, at 1 and at 2
threads separately. Values are compared first. Then the sides take turns, each
with the machine to itself, and the best of all rounds counts. A ratio above 1
means that Aspen is faster than the faster peer; below LIMIT it is missed.

    scripts/with-sdk.sh python3 benchmarks/operation_suite.py [part of a name...]
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import blas
from operations.cases import Case, all_cases
from process import Process
from tables import table

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PROGRAMS = ROOT / "build/release/bin"
LIMIT = 0.9
TOLERANCE = 2e-4  # of the mean size of an output's elements
HEAD = ["group", "operation", "threads", "ours us", "oneDNN us", "PyTorch us",
        "ratio", "verdict"]


def build(*targets: str):
    subprocess.run([ROOT / "scripts/build.sh", "release", *targets],
                   check=True)


def start_sides(threads: int, core_type: str | None) -> dict[str, Process]:
    count = str(threads)
    environment = {"ASPEN_THREADS": count,
                   **blas.environment(threads, core_type)}
    commands = {"aspen": [PROGRAMS / "operations_aspen"],
                "oneDNN": [PROGRAMS / "operations_onednn"],
                "PyTorch": [sys.executable, HERE / "operations/pytorch.py",
                            count]}
    return {side: Process(command, environment)
            for side, command in commands.items()}


def difference(ours: dict, theirs: dict) -> float:
    """The largest of an output's samples, as a share of its mean size."""
    size = theirs["meanSize"]
    pairs = [(ours["meanSize"], size),
             *zip(ours["samples"], theirs["samples"], strict=True)]
    # JSON has no NaN: it arrives as None.
    if any(value is None for pair in pairs for value in pair):
        return float("nan")
    return max(abs(a - b) for a, b in pairs) / max(size, 1e-30)


def mistake(answers: dict) -> str:
    """What is wrong with our values; nothing if all sides computed the same."""
    if "skip" in answers["aspen"]:
        return answers["aspen"]["skip"]
    for side, answer in answers.items():
        if side == "aspen" or "skip" in answer:
            continue
        for ours, theirs in zip(answers["aspen"]["outputs"], answer["outputs"],
                                strict=True):
            worst = difference(ours, theirs)
            if not worst <= TOLERANCE:  # a NaN is not, either
                return f"differs from {side} by {worst:.1e}"
    return ""


def measure(case: Case, sides: dict[str, Process], rounds: int,
            seconds: float) -> dict:
    """The best seconds of each side that can do the operation."""
    answers = {side: process.ask(prepare=case.description)
               for side, process in sides.items()}
    if wrong := mistake(answers):
        return dict(mistake=wrong)
    best = {side: float("inf") for side in sides if "skip" not in answers[side]}
    for _ in range(rounds):
        for side in best:
            best[side] = min(best[side], sides[side].ask(seconds=seconds))
    return dict(seconds=best)


def run(names=(), rounds: int = 3, seconds: float = 0.012,
        core_type: str | None = None) -> list[dict]:
    build("operations_aspen", "operations_onednn")
    cases = [c for c in all_cases()
             if not names or any(n in f"{c.group} {c.name}" for n in names)]
    results = []
    for threads in (1, 2):
        if threads > len(os.sched_getaffinity(0)):
            print(f"One core: nothing to time with {threads} threads.")
            break
        print(f"{len(cases)} operations, {threads} "
              f"thread{'s' * (threads > 1)} ...", flush=True)
        sides = start_sides(threads, core_type)
        for case in cases:
            results.append(dict(group=case.group, name=case.name,
                                threads=threads,
                                **measure(case, sides, rounds, seconds)))
        for process in sides.values():
            process.close()
    return results


def ratio(result: dict) -> float:
    """Of the best peer's time to ours; 0 where ours is wrong."""
    if "mistake" in result:
        return 0.0
    seconds = result["seconds"]
    return min(s for side, s in seconds.items()
               if side != "aspen") / seconds["aspen"]


def rows(results: list[dict]) -> list[list[str]]:
    lines = []
    for result in results:
        seconds = result.get("seconds", {})
        times = [f"{seconds[side] * 1e6:.1f}" if side in seconds else ""
                 for side in ("aspen", "oneDNN", "PyTorch")]
        verdict = result.get("mistake") or (
            "ok" if ratio(result) >= LIMIT else "MISSED")
        lines.append([result["group"], result["name"], str(result["threads"]),
                      *times, f"{ratio(result):.2f}", verdict])
    return lines


def summary(results: list[dict]) -> str:
    """How many of each group reach the limit, at each number of threads."""
    lines = []
    for group in dict.fromkeys(r["group"] for r in results):
        counts = []
        for threads in sorted({r["threads"] for r in results}):
            own = [ratio(r) for r in results
                   if r["group"] == group and r["threads"] == threads]
            reached = sum(r >= LIMIT for r in own)
            counts.append(f"{reached} of {len(own)} at {threads} "
                          f"thread{'s' * (threads > 1)}")
        lines.append(f"{group}: {', '.join(counts)} reach {LIMIT}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="part of a name")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.012)
    arguments = parser.parse_args()
    core_type, *_ = blas.best_core_type()
    results = run(arguments.names, arguments.rounds, arguments.seconds,
                  core_type)
    print(table(HEAD, rows(results)))
    print(summary(results))


if __name__ == "__main__":
    main()
