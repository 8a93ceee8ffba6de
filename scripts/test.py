#!/usr/bin/python3
"""Runs the parts of the test suite and closes with one line for each.

make test runs the parts that belong to every change; --full adds the slow
ones. Naming parts runs only those. Output is kept in build/test/<part>.log and
shown when the part fails. Tables that tests leave in $TEST_TABLES as text are
shown by the parts that are made for them.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build/test"
PYTHON = "/usr/bin/python3"


@dataclass
class Outcome:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def text(self) -> str:
        parts = [f"{self.passed} passed"]
        if self.failed:
            parts.append(f"{self.failed} failed")
        if self.skipped:
            parts.append(f"{self.skipped} skipped")
        return ", ".join(parts)


class Part:
    """One part: its commands, run in order, and the reports they leave."""

    def __init__(self, name: str):
        self.name = name
        self.reports = RESULTS / name
        self.log = RESULTS / f"{name}.log"
        shutil.rmtree(self.reports, ignore_errors=True)
        self.reports.mkdir(parents=True)
        self.log.write_text("")

    def run(self, *command, **environment) -> bool:
        with open(self.log, "a") as log:
            print("$", *command, file=log, flush=True)
            return subprocess.run(
                [str(c) for c in command],
                cwd=ROOT, stdout=log, stderr=subprocess.STDOUT,
                env={**os.environ, **environment},
            ).returncode == 0

    def junit(self) -> Outcome:
        """Counts the cases in the JUnit files that the commands wrote."""
        outcome = Outcome()
        for file in sorted(self.reports.glob("*.xml")):
            for case in ElementTree.parse(file).iter("testcase"):
                tags = {child.tag for child in case}
                if tags & {"failure", "error"}:
                    outcome.failed += 1
                elif "skipped" in tags or case.get("status") == "notrun":
                    outcome.skipped += 1
                else:
                    outcome.passed += 1
        return outcome


def check(*command) -> Callable[[Part], tuple[bool, Outcome]]:
    """A part that is a single check."""

    def run(part: Part):
        ok = part.run(*command)
        return ok, Outcome(passed=int(ok), failed=int(not ok))

    return run


def build(part: Part):
    ok = part.run("scripts/build.sh", "release") and part.run(
        "cmake", "--install", "build/release", "--prefix", "build/sdk")
    return ok, Outcome(passed=int(ok), failed=int(not ok))


def unit(preset: str) -> Callable[[Part], tuple[bool, Outcome]]:
    """The GoogleTest programs of every component, built with `preset`."""

    def run(part: Part):
        ok = part.run("scripts/build.sh", preset, "unit_tests") and part.run(
            "ctest", "--preset", preset, "--parallel", os.cpu_count(),
            GTEST_OUTPUT=f"xml:{part.reports}/",
            UBSAN_OPTIONS="print_stacktrace=1",
            # It cannot follow a child that starts threads, but lets it run.
            TSAN_OPTIONS="die_after_fork=0")
        return ok, part.junit()

    return run


def random_programs(part: Part):
    ok = part.run("scripts/build.sh", "release", "poplar_tests",
                  "kernels_tests") and part.run(
        "build/release/bin/poplar_tests",
        "--gtest_filter=*EngineRandomPrograms*",
        f"--gtest_output=xml:{part.reports}/", RANDOM_PROGRAMS="20000")
    ok = ok and part.run(
        "build/release/bin/kernels_tests", "--gtest_filter=FastRandom*",
        f"--gtest_output=xml:{part.reports}/", RANDOM_CALLS="2000")
    return ok, part.junit()


def pytest(*arguments, **environment) -> Callable[[Part], tuple[bool, Outcome]]:
    def run(part: Part):
        ok = part.run(
            "scripts/with-sdk.sh", PYTHON, "-m", "pytest", "-q",
            "-p", "no:cacheprovider",
            f"--junitxml={part.reports}/pytest.xml", *arguments,
            ASPEN_BUILD=str(ROOT / "build/sdk"),
            TEST_TABLES=str(part.reports), **environment)
        return ok, part.junit()

    return run


@dataclass
class Entry:
    run: Callable[[Part], tuple[bool, Outcome]]
    in_full_only: bool = False
    shows_tables: bool = False


PARTS = {
    "layers": Entry(check("scripts/check_layers.py")),
    "format": Entry(check("scripts/format.sh", "--check")),
    "build": Entry(build),
    "python": Entry(pytest("poptorch/tests", "popdist", "poplibs", "popart",
                           "tests")),
    "examples": Entry(pytest("examples")),
    # Compiling the unit tests takes longer than running them, so that every
    # change has them once, with sanitizers.
    "sanitizers": Entry(unit("asan")),
    "unit": Entry(unit("release"), in_full_only=True),
    "threads": Entry(unit("tsan"), in_full_only=True),
    "random": Entry(random_programs, in_full_only=True),
    "graphs": Entry(pytest("popart/tests/random_graphs", RANDOM_GRAPHS="2000"),
                    in_full_only=True),
    "pipelines": Entry(pytest("poptorch/tests/random_pipelines",
                              RANDOM_PIPELINES="1000"), in_full_only=True),
    "models": Entry(pytest("popart/tests/onnx_models",
                           "poptorch/tests/test_torchvision.py",
                           "poptorch/tests/test_timm.py",
                           "poptorch/tests/test_transformers.py",
                           FULL_MODELS="1"),
                    in_full_only=True),
    "operators": Entry(pytest("poptorch/tests/operator_database",
                              FULL_OPERATORS="1"),
                       in_full_only=True, shows_tables=True),
    "training": Entry(pytest("poptorch/tests/test_training_agreement.py",
                             FULL_TRAINING="1"),
                      in_full_only=True, shows_tables=True),
    "mnist": Entry(pytest("examples/poptorch",
                          "poptorch/tests/test_course_labs.py",
                          FULL_EXAMPLES="1"),
                   in_full_only=True),
}


def last_lines(file: Path, count: int = 60) -> str:
    text = re.sub(r"\x1b\[[0-9;]*m", "", file.read_text(errors="replace"))
    return "\n".join(text.splitlines()[-count:])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("parts", nargs="*", metavar="part",
                        help=f"of: {', '.join(PARTS)}")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part {sorted(unknown)}; there are: {list(PARTS)}")
    names = options.parts or [
        n for n, e in PARTS.items() if options.full or not e.in_full_only
    ]

    total = Outcome()
    lines = []
    for name in names:
        print(f"{name} ...", flush=True)
        part = Part(name)
        start = time.monotonic()
        ok, outcome = PARTS[name].run(part)
        seconds = time.monotonic() - start
        # A part that broke before it could report still counts as a failure.
        if not ok and not outcome.failed:
            outcome.failed = 1
        if not ok:
            print(last_lines(part.log))
            print(f"{name} failed; all of its output: "
                  f"{part.log.relative_to(ROOT)}", flush=True)
        if PARTS[name].shows_tables:
            for file in sorted(part.reports.glob("*.txt")):
                print(file.read_text())
        lines.append(f"{'ok    ' if ok else 'FAILED'}  {name:<11}"
                     f"{seconds:7.1f} s  {outcome.text()}")
        total.passed += outcome.passed
        total.failed += outcome.failed
        total.skipped += outcome.skipped

    print("\n" + "\n".join(lines))
    print(f"\n{total.text()}" if total.failed else
          f"\nAll tests passed: {total.text()}")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
