"""Each lesson builds as its readers build it and prints what it should.

The figures are worked out by hand; every way to run must print the same.
"""

import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests"))

import mnist  # noqa: E402
from user_program import UserProgram  # noqa: E402

WAYS_TO_RUN = [{}, {"ASPEN_THREADS": "1"}, {"ASPEN_THREADS": "2"},
               {"ASPEN_EXECUTOR": "reference"}]
LIBRARIES = {
    "3_matrix_vector/matrix_vector": ("poplar", "poputil"),
    "8_operations/operations": ("poplar", "poplin", "popops", "poputil"),
    "9_profile/profile": ("poplar", "popops", "poputil"),
    "10_regression/regression": ("poplar", "popnn", "poplin", "popops",
                                 "poputil"),
    "11_options/eigenvalue": ("poplar", "poplin", "popops", "poputil"),
}

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


def test_operations(lesson, way):
    output = lesson("8_operations/operations").run(**way)
    assert output.stdout == ("student 0 passed\nstudent 1 passed\n"
                             "student 2 passed\nstudent 3 failed\n")
    printed = {}
    for line in output.stderr.splitlines():
        name, values = re.fullmatch(r"(.*): \[(.*)\]", line).groups()
        printed[name] = [float(value) for value in values.split()]
    assert printed == {"marks": [12, 10, 18, 8],
                       "best of each test": [18, 14, 16, 20],
                       "distance from the mean": [0, -2, 6, -4],
                       "spread": [0, -4, 36, -16]}


@pytest.fixture(scope="module")
def profiles(lesson):
    """What the lesson prints, without the spaces that align columns."""
    program = lesson("9_profile/profile")
    return {tiles: [" ".join(line.split())
                    for line in program.run(tiles).stdout.splitlines()]
            for tiles in ("one", "all")}


def steps_of(profile: list[str]) -> dict[str, dict[str, str]]:
    steps, fields = {}, {}
    for line in profile[profile.index("Sequence"):]:
        name, _, value = line.partition(": ")
        if name in ("OnTileExecute", "DoExchange"):
            fields = steps.setdefault(line, {})
        else:
            fields[name] = value
    return steps


def test_profile_says_what_its_explanation_quotes(profiles):
    text = (HERE / "9_profile/README.md").read_text()
    quoted = "\n".join(re.findall(r"```\n(.*?)```", text, re.DOTALL))
    assert len(quoted.splitlines()) > 10
    printed = profiles["one"] + profiles["all"]
    for line in quoted.splitlines():
        assert any(p.startswith(line) for p in printed), line


def test_profile_shows_where_the_work_is(profiles):
    steps = {tiles: steps_of(profile) for tiles, profile in profiles.items()}
    add = {tiles: step["OnTileExecute: add/Op/Add"]
           for tiles, step in steps.items()}
    assert add["one"]["Active Tiles"] == "1 / 1,472"
    assert add["all"]["Active Tiles"] == "1,472 / 1,472"
    assert add["one"]["Tile Balance"] == "0.1%"
    assert add["all"]["Tile Balance"] == "100.0%"
    cycles = {tiles: int(step["Cycles"].split()[0].replace(",", ""))
              for tiles, step in add.items()}
    assert cycles["one"] > 100 * cycles["all"]
    assert not any(s.startswith("DoExchange") for s in steps["one"])
    assert any(s.startswith("DoExchange: total/") for s in steps["all"])


def test_profile_wants_to_know_which(lesson):
    assert lesson("9_profile/profile").run(status=1).stderr.startswith("usage")


REGRESSION = "10_regression/regression"


@pytest.fixture(scope="module")
def mnist_folder(tmp_path_factory):
    return mnist.unpack_into(tmp_path_factory.mktemp("mnist"))


def test_regression_learns(lesson, mnist_folder):
    output = lesson(REGRESSION).run(str(mnist_folder), "1").stdout
    epoch, test = re.findall(r": loss ([\d.]+), accuracy ([\d.]+) %", output)
    # Guessing would be a loss of log(10), 10 % of all.
    assert 0.4 < float(epoch[0]) < 0.5 < math.log(10)
    assert float(test[1]) > 90


def idx(shape, type_code: int = 8) -> bytes:
    return (bytes([0, 0, type_code, len(shape)]) +
            b"".join(n.to_bytes(4, "big") for n in shape) +
            bytes(math.prod(shape)))


IMAGES = idx((100, 28, 28))
LABELS = idx((100,))


def write_digits(folder: Path, images=IMAGES, labels=LABELS):
    for prefix in ("train", "t10k"):
        (folder / f"{prefix}-images-idx3-ubyte").write_bytes(images)
        (folder / f"{prefix}-labels-idx1-ubyte").write_bytes(labels)


def test_regression_of_one_batch(lesson, tmp_path):
    write_digits(tmp_path)
    output = lesson(REGRESSION).run(str(tmp_path), "1").stdout
    # Black pictures, all called 0: at first ten guesses are as likely, then one
    # step of 0.2 raises the bias of 0 by 0.2 * 0.9 and lowers the others' by
    # 0.2 * 0.1.
    after = math.log(1 + 9 * math.exp(-0.2))
    assert output == (f"epoch 1: loss {math.log(10):.4f}, accuracy 100.00 %\n"
                      f"test: loss {after:.4f}, accuracy 100.00 %\n")


# What is wrong with the files: images, labels, what is said about them.
DAMAGED = {
    "empty": (b"", LABELS, "is too short for an IDX header"),
    "packed": (b"\x1f\x8b" + IMAGES, LABELS, "is compressed: unpack it with "),
    "floats": (idx((100, 28, 28), 13), LABELS, "is not an IDX file of bytes"),
    "rank": (idx((4, 25, 28, 28)), LABELS, "has 4 dimensions, not 3"),
    "short": (IMAGES[:-1], LABELS, "has 78399 values; its header says 78400"),
    "size": (idx((100, 28, 27)), LABELS, "do not belong together"),
    "count": (IMAGES, idx((99,)), "do not belong together"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_regression_checks_its_files(lesson, tmp_path, damage):
    images, labels, message = DAMAGED[damage]
    write_digits(tmp_path, images, labels)
    output = lesson(REGRESSION).run(str(tmp_path), status=1)
    assert output.stderr.startswith("Error: ")
    assert message in output.stderr


def test_regression_says_which_files_it_wants(lesson, tmp_path):
    program = lesson(REGRESSION)
    assert "train-images-idx3-ubyte" in program.run(status=1).stderr
    assert program.run(str(tmp_path), status=1).stderr == (
        f"Error: cannot read {tmp_path}/train-images-idx3-ubyte\n")


EIGENVALUE = "11_options/eigenvalue"
# Of the matrix with 2 on its diagonal and -1 beside it: 2 + sqrt(2).
LARGEST = "largest eigenvalue: 3.41421\n"


def test_options(lesson, way):
    program = lesson(EIGENVALUE)
    assert program.run(**way).stdout == LARGEST
    assert program.run("--model", "--steps", "40", **way).stdout == LARGEST
    # (1, 2, 3) becomes (0, 0, 4).
    assert program.run("--steps", "1", **way).stdout == (
        "largest eigenvalue: 4\n")


def test_options_save_and_load(lesson):
    program = lesson(EIGENVALUE)
    saved = program.run("--save", "eigenvalue.exe").stdout
    assert saved == "saved to eigenvalue.exe\n"
    loaded = program.run("--load", "eigenvalue.exe", "--profile", "cost.txt")
    assert loaded.stdout == LARGEST
    cost = (program.folder / "cost.txt").read_text()
    assert re.search(r"Total cycles: +[1-9]", cost)


@pytest.mark.parametrize("arguments, message", [
    (("--stepps", "3"), "there is no option '--stepps'"),
    (("--steps",), "--steps wants a value"),
    (("--steps", "3x"), "from 1 to 1000000, not '3x'"),
    (("--steps", "0"), "from 1 to 1000000, not '0'"),
    (("--save", "a", "--load", "b"), "exclude each other"),
])
def test_options_that_make_no_sense(lesson, arguments, message):
    output = lesson(EIGENVALUE).run(*arguments, status=2)
    assert message in output.stderr
    assert "--profile FILE" in output.stderr


def test_options_report_files_that_cannot_be_used(lesson):
    program = lesson(EIGENVALUE)
    (program.folder / "damaged.exe").write_bytes(b"not an executable")
    assert "cannot read missing.exe" in program.run(
        "--load", "missing.exe", status=1).stderr
    assert program.run("--load", "damaged.exe", status=1).stderr
    assert "cannot write /no/such/folder" in program.run(
        "--save", "/no/such/folder", status=1).stderr


def test_index_names_every_lesson():
    index = (HERE / "README.md").read_text()
    for folder in HERE.iterdir():
        if folder.is_dir() and folder.name[0].isdigit():
            assert f"({folder.name})" in index
