"""Each lesson builds as its readers build it and prints what it should.

The figures are worked out by hand; every way to run must print the same.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests"))

from user_program import UserProgram  # noqa: E402

WAYS_TO_RUN = [{}, {"ASPEN_THREADS": "1"}, {"ASPEN_THREADS": "2"},
               {"ASPEN_EXECUTOR": "reference"}]
LIBRARIES = {"3_matrix_vector/matrix_vector": ("poplar", "poputil")}

EXTREMES = """\
row 0: 1 to 5
row 1: 2 to 9
row 2: -9.5 to 9
ten times the widest gap: 185
"""
PREFETCH = """\
run 1
fetch block 0
complete
prefetch block 1
complete
prefetch block 2
complete
prefetch block 3
total 15
run 2
complete
prefetch block 4
complete
prefetch block 5
complete
prefetch: nothing left
total 66
"""
# 100 x 200 on 1,472 tiles: a tile has one product, so all it costs is six
# workers' turns, 6 * (5 + 17 / 2), for the longest piece; likewise the sums.
SPLIT = """\
pieces of a row: 12
estimated cycles: 179 (products 84, their exchange 17, sums 66, \
their exchange 12)
Multiplication result OK
"""
SPLIT_OF_ONE = """\
pieces of a row: 1
estimated cycles: 37 (products 36, their exchange 1, sums 0, \
their exchange 0)
Multiplication result OK
"""
SPLIT_OF_MANY = """\
pieces of a row: 7
estimated cycles: 3996 (products 3696, their exchange 143, sums 108, \
their exchange 49)
Multiplication result OK
"""


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    """Builds a lesson the first time it is asked for."""
    built = {}

    def get(name: str) -> UserProgram:
        if name not in built:
            built[name] = UserProgram(
                (HERE / name).with_suffix(".cpp"),
                tmp_path_factory.mktemp(Path(name).name),
                LIBRARIES.get(name, ("poplar",)))
        return built[name]

    return get


@pytest.fixture(params=WAYS_TO_RUN,
                ids=lambda way: "=".join(*way.items()) if way else "default")
def way(request):
    return request.param


def test_variables(lesson, way):
    output = lesson("1_variables/variables").run(**way)
    assert output.stdout == ("tiles: 1472\n"
                             "grid:\n"
                             " 1 -1 -1 -1\n"
                             " 2 -1 4 8\n"
                             " 4 -1 -1 -1\n"
                             "departures: 11 12 21 22\n")
    assert output.stderr == (
        "row: [1.0000000 2.0000000 4.0000000 8.0000000]\n"
        "batch: [10 11 12]\n"
        "batch: [20 21 22]\n")


def test_vertices(lesson, way):
    assert lesson("2_vertices/extremes").run(**way).stdout == EXTREMES


def test_vertices_compiled_by_popc(lesson, way):
    program = lesson("2_vertices/extremes")
    subprocess.run(["popc", "extremes_codelets.cpp", "-o", "extremes.gp"],
                   cwd=program.folder, check=True)
    assert program.run("extremes.gp", **way).stdout == EXTREMES


@pytest.mark.parametrize("sizes", [("1", "1"), ("40", "50"), ("2000", "30")])
def test_matrix_vector(lesson, way, sizes):
    program = lesson("3_matrix_vector/matrix_vector")
    assert program.run(*sizes, **way).stdout == "Multiplication result OK\n"


@pytest.mark.parametrize("device", [(), ("--model",)])
def test_matrix_vector_split(lesson, way, device):
    program = lesson("4_matrix_vector_split/matrix_vector_split")
    assert program.run(*device, "100", "200", **way).stdout == SPLIT
    assert program.run(*device, "1", "1", **way).stdout == SPLIT_OF_ONE


def test_matrix_vector_split_of_many_rows(lesson):
    program = lesson("4_matrix_vector_split/matrix_vector_split")
    assert program.run("10000", "1000").stdout == SPLIT_OF_MANY


def test_matrix_vector_split_is_priced(lesson, way):
    program = lesson("4_matrix_vector_split/matrix_vector_split")
    output = program.run("--model", "--profile", "100", "200", **way).stdout
    assert output.startswith(SPLIT)
    profile = " ".join(output[len(SPLIT):].split())
    # Of 1,200 products 400 have 16 values, 800 have 17; the sums have 12.
    assert "PieceTimesVector (1,200 instances): 16,400" in profile
    assert "SumPartials ( 100 instances): 1,100" in profile
    # As estimated.
    assert "OnTileExecute: products Cycles: 84 " in profile
    assert "OnTileExecute: sums Cycles: 66 " in profile


# The published profile of this product on the model, and how near each line of
# ours must be (docs/model.md).
PUBLISHED = {
    "Total cycles": (6681766, 0.01),
    "Tile average compute cycles (including idle threads)": (3801.8, 0.01),
    "Tile average compute cycles (excluding idle threads)": (3717.6, 0.01),
    "Tile average IPU exchange cycles": (8697.4, 0.25),
    "Tile average global exchange cycles": (0.0, 0),
    "Tile average host exchange cycles": (6663550.8, 0.01),
    "Tile average sync cycles": (1134.8, 0.25),
}


def test_matrix_vector_split_has_the_published_profile(lesson):
    program = lesson("4_matrix_vector_split/matrix_vector_split")
    output = program.run("--model", "--profile", "10000", "1000").stdout
    for line, (published, share) in PUBLISHED.items():
        printed = re.search(rf"{re.escape(line)}: +([\d,.]+) \(", output)
        cycles = float(printed[1].replace(",", ""))
        assert cycles == pytest.approx(published, rel=share), line


def test_prefetch(lesson, way):
    assert lesson("5_prefetch/prefetch").run(**way).stdout == PREFETCH


def test_control_flow(lesson, way):
    output = lesson("6_control_flow/collatz").run(**way)
    assert output.stdout == ("1: 0 steps, group 100\n"
                             "6: 8 steps, group 300\n"
                             "7: 16 steps, group 200\n"
                             "27: 111 steps, group 100\n")


def test_executables(lesson, way):
    program = lesson("7_executables/executable")
    file = program.folder / "squares.exe"
    assert program.run("save", file.name, **way).stdout == "saved\n"
    source = program.folder / "executable.cpp"
    hidden = source.rename(source.with_suffix(".away"))
    try:
        output = program.run("run", file.name, "3", "-0.5", **way)
    finally:
        hidden.rename(source)
    assert output.stdout == "3 9 81\n-0.5 0.25 0.0625\n"


@pytest.mark.parametrize("content", [None, b"", b"not an executable"])
def test_damaged_executable_is_reported(lesson, content):
    program = lesson("7_executables/executable")
    file = program.folder / "damaged.exe"
    file.unlink(missing_ok=True)
    if content is not None:
        file.write_bytes(content)
    output = program.run("run", file.name, "3", status=1)
    assert output.stderr.startswith("Error: ")


def test_index_names_every_lesson():
    index = (HERE / "README.md").read_text()
    for folder in HERE.iterdir():
        if folder.is_dir() and folder.name[0].isdigit():
            assert f"({folder.name})" in index
