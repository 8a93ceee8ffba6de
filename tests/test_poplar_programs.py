"""Programs that use libpoplar as published ones do build and run unmodified.

They are written from the list of what published programs use: the headers they
include and leave out, the forms of the calls, the libraries they link. What they
must print is what is published of those programs.
"""

import re
import subprocess
from pathlib import Path

import mnist
import pytest
import torch
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


def printed_matrix(name: str, rows: list[list[float]]) -> str:
    lines = "".join(f"  [{' '.join(f'{x:.7f}' for x in row)}]\n"
                    for row in rows)
    return f"{name}: [\n{lines}]\n"


def test_operations(build):
    output = build("operations", "poplar", "popops").run()
    assert output.stderr == (
        printed_matrix("v3", [[5, 4.5], [4, 3.5]]) +
        printed_matrix("v4", [[9, 7.5], [6, 4.5]]) +
        printed_matrix("v5", [[5, 3.5], [5, 3.5]]))


PROFILING = ("poplar", "poplin", "popops", "poputil")


@pytest.mark.parametrize("route, clock", [("model", "1,330.0"),
                                          ("ipu", "1,850.0")])
def test_profiling(build, route, clock):
    report = build("profiling", *PROFILING).run(route, "900", "600",
                                                "300").stdout
    assert "Total Tiles:            1,472\n" in report
    assert f"Clock Speed (approx):   {clock} MHz\n" in report
    variables = re.search(r"Number of variables: +([\d,]+)\n", report)
    assert int(variables[1].replace(",", "")) >= 5
    assert "poplin::ConvPartial1x1Out<float,float,true,false>" in report
    for product in ("m4", "m5"):
        assert re.search(rf"DoExchange: {product}/.*\n +Cycles: ", report)
        assert re.search(rf"OnTileExecute: {product}/.*\n +Cycles: ", report)
    assert "0 tile(s) out of memory" in report


def test_profiling_of_more_than_fits(build):
    program = build("profiling", *PROFILING)
    sizes = ("9000", "7500", "9000")
    assert "1,472 tile(s) out of memory" in program.run("model", *sizes).stdout
    aborted = -6
    assert program.run("ipu", *sizes, status=aborted).stderr.startswith(
        "terminate called after throwing an instance of "
        "'poplar::graph_memory_allocation_error'\n")


@pytest.fixture(scope="module")
def mnist_folder(tmp_path_factory):
    return mnist.unpack_into(tmp_path_factory.mktemp("mnist"))


@pytest.fixture(scope="module")
def pytorch_regression(mnist_folder):
    """The first losses, and the accuracy in percent after one epoch."""
    digits = mnist.load(mnist_folder)
    model = torch.nn.Linear(784, 10)
    torch.nn.init.zeros_(model.weight)
    torch.nn.init.zeros_(model.bias)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for images, labels in zip(digits.train.images.flatten(1).split(50),
                              digits.train.labels.split(50)):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    guesses = model(digits.test.images.flatten(1)).argmax(dim=1)
    right = (guesses == digits.test.labels).sum().item()
    return losses[:20], 100 * right / len(guesses)


REGRESSION = ("poplar", "poplin", "popnn", "popops", "poputil")


@pytest.mark.parametrize("route", ["model", "ipu"])
def test_regression_learns_as_pytorch_does(build, mnist_folder,
                                           pytorch_regression, route):
    losses, accuracy = pytorch_regression
    printed = build("regression", *REGRESSION).run(str(mnist_folder), "1",
                                                   route).stdout
    *ours, last = map(float, printed.split())
    assert ours == pytest.approx(losses, abs=1e-5, rel=0)
    assert last == pytest.approx(accuracy, abs=0.3)


def test_regression_is_priced(build, mnist_folder):
    report = build("regression", *REGRESSION).run(str(mnist_folder), "1",
                                                  "model", "report").stdout
    assert "Tiles per IPU:          4\n" in report
    assert re.search(r"Total cycles: +[1-9][\d,]* ", report)
    assert "popnn::LossCrossEntropyTransform<float>" in report


@pytest.fixture
def advanced(build):
    program = build("advanced", "poplar", "popops")
    subprocess.run(["popc", "vector_add_codelets.cpp", "-o", "vector_add.gp"],
                   cwd=program.folder, check=True)
    return program


@pytest.mark.parametrize("route", [(), ("--ipu",)])
def test_advanced(advanced, route):
    assert advanced.run(*route).stdout == "Results match.\n"
    assert advanced.run(*route, "--profile", "profile.txt").stdout == (
        "Results match.\n")
    profile = (advanced.folder / "profile.txt").read_text()
    assert re.search(r"VectorAdd +\( 1 instances\): +1,020\n", profile)
    assert "OnTileExecute: reduction" in profile


def test_advanced_runs_what_it_saved(advanced):
    assert advanced.run("--save", "saved.exe").stdout == ""
    (advanced.folder / "vector_add.gp").unlink()
    assert advanced.run("--load", "saved.exe").stdout == "Results match.\n"
    output = advanced.run(status=2)
    assert output.stderr.startswith("Poplar exception: ")


def test_advanced_reports_what_it_cannot_read(advanced):
    assert advanced.run("--load", "missing.exe", status=2).stderr.startswith(
        "Poplar exception: ")
    assert advanced.run("--save", status=1).stderr == (
        "Exception: Unknown option: --save\n")


def test_instances_share_replicas(tmp_path):
    program = UserProgram(PROGRAMS / "shared_replicas.cpp", tmp_path,
                          ("poplar", "gcl", "popops", "popdist")).program
    done = subprocess.run(
        ["poprun", "--num-instances=2", "--num-replicas=4", program],
        text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    # 1 + 2 + 3 + 4, and ten times that; then over two instances.
    assert sorted(done.stdout.splitlines()) == [
        "[1,0]<stdout>:replica 0: 10 100, instances 20",
        "[1,1]<stdout>:replica 2: 10 100, instances 20"]
