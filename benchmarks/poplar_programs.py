"""Times Poplar programs as users write them: compiled with g++, run alone.

Each program in benchmarks/poplar/ checks its own values and prints one line of
JSON; LIMITS says what each figure must not pass.
"""

import json
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent / "poplar"
BUILD = HERE.parent.parent / "build/bench/poplar"

LIBRARIES = {
    **{name: ["-lpoplin", "-lpopops", "-lpoputil"]
       for name in ("library_compile", "pricing")},
    "deep_network": ["-lpopnn", "-lpoplin", "-lpopops", "-lpoputil"],
}

# (program, figure): (limit, whether the figure must be below it)
LIMITS = {
    ("million_vertices", "compile_s"): (10.0, True),
    ("million_vertices", "peak_GiB"): (2.0, True),
    ("vertex_bandwidth", "ratio"): (0.7, False),
    ("repeat_execute", "ns_per_iteration"): (200.0, True),
    ("library_compile", "ratio"): (3.0, True),
    ("deep_network", "build_s"): (2.0, True),
    ("deep_network", "ratio"): (2.0, True),
    ("pricing", "ipus16_s"): (1.0, True),
    ("pricing", "ipus16_MB"): (500.0, True),
    ("pricing", "ipus256_s"): (10.0, True),
}


def measure(name: str) -> dict:
    BUILD.mkdir(parents=True, exist_ok=True)
    program = BUILD / name
    subprocess.run(
        ["g++", "-std=c++11", "-O3", HERE / f"{name}.cpp", "-o", program,
         "-lpoplar", *LIBRARIES.get(name, []), "-pthread"], check=True)
    answer = subprocess.run([program], cwd=HERE, check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    return json.loads(answer.splitlines()[-1])


def is_within(program: str, figure: str, value: float) -> bool:
    if (program, figure) not in LIMITS:
        return True
    limit, is_upper = LIMITS[program, figure]
    return value < limit if is_upper else value >= limit


def rows(results: dict) -> list[list[str]]:
    """A line for each figure: program, figure, value, limit, verdict."""
    lines = []
    for program, figures in results.items():
        for figure, value in figures.items():
            limit = ""
            if (program, figure) in LIMITS:
                bound, is_upper = LIMITS[program, figure]
                limit = f"{'<' if is_upper else '>='} {bound:g}"
            verdict = "" if not limit else (
                "ok" if is_within(program, figure, value) else "MISSED")
            lines.append([program, figure, f"{value:g}", limit, verdict])
    return lines


def run() -> dict:
    return {source.stem: measure(source.stem)
            for source in sorted(HERE.glob("*.cpp"))
            if source.stem != "codelets"}
