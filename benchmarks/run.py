"""Times networks on Aspen and its peers, side by side in one run.

A row is a network of networks.py, trained or asked for scores at a batch size;
compare.py says how a row is measured. A ratio above 1 means that Aspen is
faster than the best setting of PyTorch. Without --only, the single operations of
operation_suite.py, the Poplar programs of poplar_programs.py, the compilations
of compile_times.py, the first calls of first_call.py and the epochs of epoch.py
follow. Results go to build/bench/: a table, JSON and a chart.
"""

import argparse
import json
import os
import platform
from pathlib import Path

import blas
import compile_times
import epoch
import first_call
import operation_suite
import peers
import poplar_programs
import report
import torch
from compare import compare
from contenders import Row
from networks import NETWORKS
from tables import table

OUTPUT = Path(__file__).resolve().parent.parent / "build/bench"
PROGRAM_HEAD = ["Poplar program", "figure", "value", "limit", "verdict"]


def rows_of(names: list[str], kinds: list[str], cores: int) -> list[Row]:
    rows = []
    for name in names:
        network = NETWORKS[name]
        if "training" in kinds and network.optimizer:
            rows.append(Row(name, True, network.batch, cores))
        if "inference" in kinds:
            rows += [Row(name, False, batch, cores)
                     for batch in network.inference_batches]
    return rows


def machine(core_type: str | None, speed: float, peer_python) -> dict:
    model = next((line.split(":")[1].strip()
                  for line in open("/proc/cpuinfo")
                  if line.startswith("model name")), platform.processor())
    versions = json.loads(peers.versions()) if peer_python else {}
    return dict(cpu=model, cores=len(os.sched_getaffinity(0)),
                versions={"PyTorch": torch.__version__, **versions},
                openblas=dict(coreType=core_type or "own choice",
                              gigaflops=round(speed, 1)))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--only", nargs="+", choices=NETWORKS, metavar="network",
        help=f"these rows alone, of: {', '.join(NETWORKS)}")
    add("--kinds", nargs="+", choices=("training", "inference"),
        default=["training", "inference"])
    add("--one-core", action="store_true",
        help="one thread and its CPU time: for a machine that is busy")
    add("--rounds", type=int, default=8)
    add("--seconds", type=float, default=0.3, help="per contender and round")
    return parser.parse_args()


def suites(core_type: str | None) -> tuple[dict, list[str]]:
    """What is timed beside networks: figures, and tables of them."""
    print("single operations ...", flush=True)
    operations = operation_suite.run(core_type=core_type)
    print("Poplar programs ...", flush=True)
    programs = poplar_programs.run()
    print("compilations ...", flush=True)
    compilations = compile_times.run()
    print("first calls ...", flush=True)
    first_calls = first_call.run()
    print("epochs ...", flush=True)
    epochs = epoch.run(core_type)
    return dict(operations=operations, programs=programs,
                compilations=compilations, firstCalls=first_calls,
                epochs=epochs), [
        table(operation_suite.HEAD, operation_suite.rows(operations)),
        operation_suite.summary(operations),
        table(PROGRAM_HEAD, poplar_programs.rows(programs)),
        table(compile_times.HEAD, compile_times.rows(compilations)),
        table(first_call.HEAD, first_call.rows(first_calls)),
        table(epoch.HEAD, epoch.rows(epochs))]


def write_figures(**figures):
    """Also after each row: a run that is interrupted keeps what it has."""
    (OUTPUT / "results.json").write_text(json.dumps(figures, indent=2) + "\n")


def main():
    arguments = parse_arguments()
    OUTPUT.mkdir(parents=True, exist_ok=True)
    core_type, speed, _ = blas.best_core_type()
    peer_python = peers.install()
    about = machine(core_type, speed, peer_python)
    title = (f"{about['cpu']}, {about['cores']} cores; "
             + ", ".join(f"{n} {v}" for n, v in about["versions"].items())
             + f"; OpenBLAS {about['openblas']['coreType']}: {speed:.0f} "
             f"GFLOP/s a core")
    print(title, flush=True)
    results = []
    for row in rows_of(arguments.only or list(NETWORKS), arguments.kinds,
                       1 if arguments.one_core else about["cores"]):
        print(f"{row.title} ...", flush=True)
        results.append(compare(row, core_type, peer_python, arguments.rounds,
                               arguments.seconds))
        print(table(report.HEAD, report.rows(results[-1])), flush=True)
        write_figures(machine=about, results=results)
    tables = [title, table(report.HEAD, [l for r in results
                                         for l in report.rows(r)]),
              table(report.FACTS_HEAD, [report.facts(r) for r in results]),
              "".join(report.peers(r) for r in results).strip()]
    more = {}
    if not arguments.only:
        more, lines = suites(core_type)
        tables += lines
    text = "\n\n".join(tables)
    print(text)
    (OUTPUT / "results.md").write_text(text + "\n")
    write_figures(machine=about, results=results, **more)
    (OUTPUT / "results.svg").write_text(report.svg(results, about["cpu"]))


if __name__ == "__main__":
    main()
