"""torch's operators by torch's own samples: a slice of them, or with
FULL_OPERATORS all. What is not right is on a list, with a reason."""

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from .expected import DIFFERENT, REFUSED

IS_FULL = bool(os.environ.get("FULL_OPERATORS"))
SAMPLES_OF_A_SLICE = 2


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """By verdict and entry, what was said of each sample. torch's test utilities
    change torch for the whole process, so that they have their own."""
    file = tmp_path_factory.mktemp("operators") / "results.jsonl"
    limit = [] if IS_FULL else ["--limit", str(SAMPLES_OF_A_SLICE)]
    run = subprocess.run(
        [sys.executable, "-m", "operator_database.explore", *limit,
         "--results", str(file)],
        cwd=Path(__file__).resolve().parents[1], capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    if tables := os.environ.get("TEST_TABLES"):
        Path(tables, "operators.txt").write_text(run.stdout)
    results = defaultdict(lambda: defaultdict(list))
    for line in file.read_text().splitlines():
        case, verdict, text = json.loads(line)
        entry = case.rsplit(":", 2)[0]
        results[verdict][entry].append(f"{case}: {text}")
    return results


def requireOnly(found, allowed):
    """Says the first sample of each entry that is not allowed."""
    others = {e: said[0] for e, said in found.items() if e not in allowed}
    assert not others, "\n" + "\n".join(others.values())


def test_nothingCrashes(results):
    requireOnly(results["crashed"], ())
    requireOnly(results["internal"], ())


def test_valuesAreThoseOfTorch(results):
    requireOnly(results["wrong"], DIFFERENT)


def test_whatIsRefusedIsKnown(results):
    requireOnly(results["refused"], REFUSED)
    requireOnly(results["raised"], REFUSED)


def test_listsNameEntries(results):
    entries = {entry for found in results.values() for entry in found}
    assert not (set(REFUSED) | set(DIFFERENT)) - entries


@pytest.mark.skipif(not IS_FULL, reason="the slice may miss what is refused")
def test_whatWorksIsOnNoList(results):
    assert not set(REFUSED) - {*results["refused"], *results["raised"]}
    assert not set(DIFFERENT) - set(results["wrong"])
