#!/usr/bin/python3
"""Runs torch's operator database through PopTorch and says how it went.

    ../../scripts/with-sdk.sh python3 -m operator_database.explore [entry ...]
        [--results FILE] [--limit N] [--jobs N] [--show VERDICT]

from poptorch/tests. Samples run in child processes, so that a crash is a line of
the results. With a results file, an interrupted run goes on where it was.
"""

import argparse
import json
import os
import selectors
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .database import ENTRIES, Case, casesOf

SECONDS_PER_CASE = 120
# Memory that compilations leave behind stays bounded.
CASES_PER_PROCESS = 400


class Child:
    """A process that judges cases: a line when it begins one, one when it has
    ended it."""

    def __init__(self, cases, registry):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "operator_database.worker"],
            cwd=Path(__file__).resolve().parents[1],
            env={**os.environ, "ASPEN_REGISTRY": registry,
                 "POPTORCH_LOG_LEVEL": "ERR"},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._process.stdin.write("\n".join(map(str, cases)).encode())
        self._process.stdin.close()

    def lines(self):
        """Until the process ends or says nothing for too long."""
        pending = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while selector.select(SECONDS_PER_CASE):
                read = os.read(self._process.stdout.fileno(), 65536)
                if not read:
                    return
                *lines, pending = (pending + read).split(b"\n")
                yield from lines
        self._process.kill()

    def end(self):
        """How it ended."""
        self._process.stdout.close()
        code = self._process.wait()
        return f"the process ended with {code}"


def judgeAll(cases, note):
    """Calls note(case, verdict, text) for each case, whatever happens."""
    from .judge import CRASHED

    remaining = list(cases)
    with tempfile.TemporaryDirectory() as registry:
        while remaining:
            done = 0
            child = Child(remaining[:CASES_PER_PROCESS], registry)
            for line in child.lines():
                verdict, text = json.loads(line)
                note(remaining[done], verdict, text)
                done += 1
            ending = child.end()
            if done < len(remaining[:CASES_PER_PROCESS]):
                note(remaining[done], CRASHED, ending)
                done += 1
            remaining = remaining[done:]


class Results:
    """What is known of each case, in a file of lines."""

    def __init__(self, path=None):
        self._path = path
        self.known = {}
        if path is not None and path.exists():
            for line in path.read_text().splitlines():
                case, verdict, text = json.loads(line)
                self.known[case] = (verdict, text)

    def note(self, case, verdict, text):
        self.known[str(case)] = (verdict, text)
        if self._path is not None:
            with open(self._path, "a") as file:
                print(json.dumps([str(case), verdict, text]), file=file)


def explore(cases, results, jobs):
    """Judges what is not known yet, entries shared among processes."""
    remaining = [c for c in cases if str(c) not in results.known]
    shares = [[] for _ in range(jobs)]
    for entry in sorted({case.entry for case in remaining}):
        least = min(shares, key=len)
        least += [case for case in remaining if case.entry == entry]
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda s: judgeAll(s, results.note), shares))


def worstOfEntries(cases, results):
    """The worst verdict of each entry's cases, those outside left out."""
    from .judge import OUTSIDE, VERDICTS

    worst = {}
    for case in cases:
        verdict, _ = results.known[str(case)]
        if verdict != OUTSIDE:
            known = worst.get(case.entry, verdict)
            worst[case.entry] = max(known, verdict, key=VERDICTS.index)
    return worst


def main():
    from .judge import VERDICTS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("entries", nargs="*", default=list(ENTRIES))
    parser.add_argument("--results", type=Path)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--show", choices=VERDICTS, nargs="*", default=[])
    arguments = parser.parse_args()
    cases = [
        case
        for entry in arguments.entries
        for case in casesOf(entry, arguments.limit)
    ]
    results = Results(arguments.results)
    explore(cases, results, arguments.jobs)
    worst = worstOfEntries(cases, results)
    for case in cases:
        verdict, text = results.known[str(case)]
        if verdict in arguments.show:
            print(f"{verdict:9}{case}  {text[:300]}")
    verdicts = [results.known[str(case)][0] for case in cases]
    print(f"{'':9}{'entries':>9}{'samples':>9}")
    for verdict in VERDICTS:
        print(f"{verdict:9}{list(worst.values()).count(verdict):9}"
              f"{verdicts.count(verdict):9}")


if __name__ == "__main__":
    main()
