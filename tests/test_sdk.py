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
#include <poplar/DeviceManager.hpp>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <popops/ElementWise.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>
using namespace poplar;
int main() {
  DeviceManager manager;
  Device device = std::move(manager.getDevices(TargetType::IPU, 1).at(0));
  if (!device.attach()) return 1;
  Graph graph(device.getTarget());
  popops::addCodelets(graph);
  Tensor x = graph.addVariable(FLOAT, {2, 2}, "x");
  poputil::mapTensorLinearly(graph, x);
  graph.createHostWrite("x", x);
  program::Sequence steps;
  Tensor y = popops::add(graph, x, x.transpose(), steps, "y");
  graph.createHostRead("y", y);
  Engine engine(graph, steps);
  engine.load(device);
  float values[] = {1, 2, 3, 4};
  engine.writeTensor("x", values, values + 4);
  engine.run(0);
  engine.readTensor("y", values, values + 4);
  for (float value : values) std::cout << value << ' ';
}
"""


def test_plain_cxx11_program_compiles_links_and_runs(tmp_path, shell):
    (tmp_path / "program.cpp").write_text(PROGRAM)
    output = shell(
        f"source enable.sh; cd {tmp_path}; g++ -std=c++11 -Wall -Werror "
        "program.cpp -lpoplar -lpopops -lpoputil -o program; ./program",
        TMPDIR=os.environ.get("TMPDIR", "/tmp"))
    assert output == "2 5 5 8"
