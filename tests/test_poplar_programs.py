"""Programs that use libpoplar as published ones do build and run unmodified.

They are written from the list of what published programs use: the headers they
include and leave out, the forms of the calls, the libraries they link. What they
must print is what is published of those programs.
"""

import re
import subprocess
from pathlib import Path

import pytest
from user_program import UserProgram

PROGRAMS = Path(__file__).resolve().parent / "poplar_programs"

H3 = """\
h3 data:
 0 0 0 0
 0 1 1.5 2
 0 0 0 0
 0 0 0 0
"""
PRINTED_V1 = "v1-debug: [1.0000000 1.5000000 2.0000000 2.5000000]\n"
PRINTED_V2 = "v2-debug: [1.0000000 1.5000000 2.0000000 2.5000000]\n"
PRINTED_SUMS = "v2: [7.0000000 6.0000000 4.5000000 2.5000000]\n"
OK = "Multiplication result OK\n"
# Published for 10,000 x 1,000 on 1,472 tiles.
SPLIT = """\
colsAxisSplit=7, total cost=3996 (compute cost=3696, exchange cost=143, \
reduce exchange cost=49, reduce compute cost=108)
Worst cost seen: 53807
"""


def printed_v4(name: str, first: int) -> str:
    return f"{name}: [{' '.join(str(first + i) for i in range(10))}]\n"


@pytest.fixture
def build(tmp_path):
    def of(name: str, *libraries: str, flags=("-std=c++11",)) -> UserProgram:
        return UserProgram(PROGRAMS / f"{name}.cpp", tmp_path,
                           libraries or ("poplar",), flags)

    return of


def test_variables_on_the_model(build):
    output = build("variables_model").run()
    assert output.stdout == H3
    # The stream's buffer holds three copies' numbers: the fourth copy, in the
    # second run, is back at its start.
    assert output.stderr == (
        PRINTED_V1 + PRINTED_V2 + printed_v4("v4-0", 0) +
        printed_v4("v4-1", 10) + PRINTED_V1 + PRINTED_V2 +
        printed_v4("v4-0", 20) + printed_v4("v4-1", 0))


def test_variables_on_an_ipu(build):
    output = build("variables_ipu").run()
    assert output.stdout == "Attached to IPU 0\n" + H3
    assert output.stderr == (PRINTED_V1 + printed_v4("v4-0", 0) +
                             printed_v4("v4-1", 10))


def test_vertices(build):
    program = build("vertices")
    assert program.run().stderr == PRINTED_SUMS
    subprocess.run(["popc", "sum_codelets.cpp", "-o", "sum_codelets.gp"],
                   cwd=program.folder, check=True)
    (program.folder / "sum_codelets.cpp").unlink()
    assert program.run("sum_codelets.gp").stderr == PRINTED_SUMS


@pytest.mark.parametrize("flags", [(), ("-DON_IPU",)])
def test_matrix_vector(build, flags):
    program = build("matrix_vector", "poplar", "poputil",
                    flags=("-std=c++11", *flags))
    for sizes in [("40", "50"), ("3000", "7")]:
        assert program.run(*sizes).stdout == OK


@pytest.mark.parametrize("route", ["model", "ipu"])
def test_matrix_vector_split(build, route):
    program = build("matrix_vector_split")
    assert program.run("10000", "1000", route).stdout == SPLIT + OK
    assert program.run("100", "30", route).stdout.endswith(OK)


def test_matrix_vector_split_is_priced_as_published(build):
    output = build("matrix_vector_split").run("10000", "1000", "model",
                                              "report").stdout
    assert output.startswith(SPLIT + OK)
    report = " ".join(output.split())
    # 60,000 products take 77 cycles and 10,000 take 76; 10,000 sums take 9.
    assert "DotProductVertex (70,000 instances): 5,380,000" in report
    assert "ReduceVertex (10,000 instances): 90,000" in report
    # The published mean is of these and of some copies.
    mean = re.search(r"\(excluding idle threads\): ([0-9,.]+) ", report)
    assert float(mean[1].replace(",", "")) == pytest.approx(3717.6, rel=0.01)
    assert "OnTileExecute: mulCS Cycles: 3,696 " in report
    assert "OnTileExecute: reduceCS Cycles: 108 " in report


def test_prefetch(build):
    run = ["prefetch", "complete"]
    declined = ["prefetch", "fetch", "complete"]
    assert build("prefetch").run().stdout.split("\n") == [
        "first run", "fetch", "complete", *run * 4, "prefetch",
        "second run", "complete", *run * 4, "prefetch",
        "without prefetch", "fetch", "complete", *declined * 4, "prefetch",
        ""]


def test_named_blocks_on_two_ipus(build):
    program = build("blocks_two_ipus", flags=("-std=c++14",))
    assert program.run().stdout == "  stage0 105\n  stage1 105\n"


def test_named_blocks_with_streams(build):
    program = build("blocks_streams", flags=("-std=c++14",))
    # 1 + (1 + 2 + 3 + 4), then the callback goes on with 5, 6, 7, 8.
    assert program.run().stdout == "11\n37\n"
