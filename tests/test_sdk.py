"""build/sdk can be used as the original is."""

import os
import subprocess

import pytest

PATHS = ("CMAKE_PREFIX_PATH", "CPATH", "LIBRARY_PATH", "LD_LIBRARY_PATH",
         "PYTHONPATH")


@pytest.fixture
def shell(root):
    def run(script: str, **environment) -> str:
        clean = {"PATH": "/usr/bin:/bin", "HOME": "/nowhere", **environment}
        return subprocess.run(
            ["bash", "-euc", script], env=clean, check=True, text=True,
            capture_output=True, cwd=root / "build/sdk").stdout.strip()

    return run


@pytest.mark.parametrize("name", PATHS)
def test_enable_prepends_without_an_empty_entry(root, shell, name):
    show = f'source enable.sh; echo "${name}"'
    first = shell(show).split(":")
    assert first[0].startswith(str(root / "build/sdk"))
    assert "" not in first
    assert shell(show, **{name: "/old"}) == ":".join([*first, "/old"])


def test_enable_twice_says_so_and_changes_nothing(shell):
    output = shell('source enable.sh; before=$PATH; source enable.sh; '
                   '[ "$before" = "$PATH" ]')
    assert output.startswith("ERROR: A Poplar SDK has already been enabled.")


def test_python3_is_the_interpreter_with_torch(root, shell):
    output = shell("source enable.sh; command -v python3; "
                   "python3 -c 'import torch; print(torch.__version__)'")
    assert output.split("\n")[0] == str(root / "build/sdk/bin/python3")


PROGRAM = r"""
#include <iostream>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
using namespace poplar;
int main() {
  IPUModel model;
  Device device = model.createDevice();
  Graph graph(device.getTarget());
  Tensor x = graph.addConstant<float>(FLOAT, {2, 2}, {1, 2, 3, 4}, "x");
  Tensor y = graph.addVariable(FLOAT, {2, 2}, "y");
  graph.setTileMapping(x, 0);
  graph.setTileMapping(y, 1);
  graph.createHostRead("y", y);
  Engine engine(graph, program::Copy(x.transpose(), y));
  engine.load(device);
  engine.run(0);
  float result[4];
  engine.readTensor("y", result, result + 4);
  for (float value : result) std::cout << value << ' ';
}
"""


def test_plain_cxx11_program_compiles_links_and_runs(tmp_path, shell):
    (tmp_path / "program.cpp").write_text(PROGRAM)
    output = shell(
        f"source enable.sh; cd {tmp_path}; g++ -std=c++11 -Wall -Werror "
        "program.cpp -lpoplar -o program; ./program",
        TMPDIR=os.environ.get("TMPDIR", "/tmp"))
    assert output == "1 3 2 4"
