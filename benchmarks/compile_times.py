"""Times the compilation of PopART's training graphs, pass by pass.

Each graph is compiled in a process of its own, from the model's bytes to an
engine that could run and the model's estimate of what a step costs. The figures
by pass are from the debug logs of PopART and Poplar; what no pass accounts for is
"other". LIMITS says what must not be passed.

    scripts/with-sdk.sh python3 benchmarks/compile_times.py [graph...]
"""

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMITS = {  # seconds, and GiB beyond the weights
    "mnist": {"seconds": 0.5},
    "resnet50": {"seconds": 10.0},
    "bert-large": {"seconds": 60.0, "GiB": 4.0},
}
HEAD = ["graph", "pass", "seconds", "limit", "verdict"]
LINE = re.compile(r" (\w+): ([\d.]+) ms")
SHOWN = 12  # passes of a graph, the slowest; the rest is one line


def compile_graph(name: str) -> dict:
    """In this process: seconds in all and for the estimate, and memory."""
    from compiled_graphs import GRAPHS

    graph = GRAPHS[name]()
    start = time.perf_counter()
    session = graph.session()
    graph.model = b""  # the session has read it
    session.prepareDevice()
    compiled = time.perf_counter()
    report = session.getSummaryReport()
    end = time.perf_counter()
    assert "Total cycles" in report
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return dict(seconds=end - start, estimate=end - compiled,
                GiB=(peak - graph.weight_bytes) / 2**30,
                weightsGiB=graph.weight_bytes / 2**30)


def measure(name: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        logs = [Path(folder) / "popart", Path(folder) / "poplar"]
        answer = subprocess.run(
            [sys.executable, __file__, "--compile", name], check=True,
            text=True, stdout=subprocess.PIPE,
            env={**os.environ,
                 "POPART_LOG_LEVEL": "DEBUG", "POPART_LOG_DEST": str(logs[0]),
                 "POPLAR_LOG_LEVEL": "DEBUG", "POPLAR_LOG_DEST": str(logs[1])},
        ).stdout
        result = json.loads(answer.splitlines()[-1])
        passes = {}
        for log in logs:
            for stage, time_ in LINE.findall(log.read_text()):
                passes[stage] = passes.get(stage, 0.0) + float(time_) / 1e3
    passes["estimate"] = result.pop("estimate")
    passes["other"] = result["seconds"] - sum(passes.values())
    return {**result, "passes": passes}


def verdict(name: str, figure: str, value: float) -> list[str]:
    limit = LIMITS[name].get(figure)
    if limit is None:
        return ["", ""]
    return [f"< {limit:g}", "ok" if value < limit else "MISSED"]


def rows(results: dict) -> list[list[str]]:
    """Totals with their verdicts, then the slowest passes."""
    lines = []
    for name, result in results.items():
        lines.append([name, "all", f"{result['seconds']:.3f}",
                      *verdict(name, "seconds", result["seconds"])])
        lines.append([name, f"GiB beyond {result['weightsGiB']:.2f} of weights",
                      f"{result['GiB']:.2f}",
                      *verdict(name, "GiB", result["GiB"])])
        passes = sorted(result["passes"].items(), key=lambda p: -p[1])
        rest = sum(seconds for _, seconds in passes[SHOWN:])
        for stage, seconds in [*passes[:SHOWN], ("the others", rest)]:
            lines.append([name, stage, f"{seconds:.3f}", "", ""])
    return lines


def run(names=tuple(LIMITS)) -> dict:
    return {name: measure(name) for name in names}


def main():
    if sys.argv[1:2] == ["--compile"]:
        print(json.dumps(compile_graph(sys.argv[2])))
        return
    from tables import table

    print(table(HEAD, rows(run(sys.argv[1:] or tuple(LIMITS)))))


if __name__ == "__main__":
    main()
