"""build/sdk can be used as the original is."""

import os
import subprocess

import pytest

PATHS = ("CMAKE_PREFIX_PATH", "CPATH", "LIBRARY_PATH", "LD_LIBRARY_PATH",
         "PYTHONPATH")


@pytest.fixture
def shell(root):
    def run(script: str, **environment) -> str:
        clean = {"PATH": "/usr/bin:/bin", "HOME": "/nowhere",
                 "ASPEN_REGISTRY": os.environ["ASPEN_REGISTRY"], **environment}
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


VARIABLES_AND_COPIES = r"""
#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>
using namespace poplar;
using namespace poplar::program;
int main() {
  Device device = IPUModel().createDevice();
  Graph graph(device.getTarget());
  Tensor v = graph.addVariable(INT, {6}, "v");
  for (unsigned i = 0; i < 6; ++i) graph.setTileMapping(v[i], i);
  Tensor c = graph.addConstant<int>(INT, {2}, {7, 8});
  graph.setTileMapping(c, 0);
  DataStream in = graph.addHostToDeviceFIFO("in", INT, 4);
  graph.createHostRead("v", v);
  Sequence prog;
  prog.add(Copy(in, v.slice(0, 4)));
  prog.add(Copy(c, v.slice({4}, {6})));
  Engine engine(graph, prog);
  engine.load(device);
  std::vector<int> values = {1, 2, 3, 4, 0, 0};
  engine.connectStream("in", values.data(), values.data() + 4);
  engine.run(0);
  std::vector<int> result(6);
  engine.readTensor("v", result.data(), result.data() + result.size());
  for (int value : result) std::cout << value << ' ';
}
"""


def test_a_program_needs_no_library_but_poplar(tmp_path, shell):
    (tmp_path / "program.cpp").write_text(VARIABLES_AND_COPIES)
    output = shell(
        f"source enable.sh; cd {tmp_path}; "
        "g++ -std=c++11 program.cpp -lpoplar -o program; ./program",
        TMPDIR=os.environ.get("TMPDIR", "/tmp"))
    assert output == "1 2 3 4 7 8"


ONNX_MODEL = r"""
#include <iostream>
#include <popart/builder.hpp>
#include <popart/session.hpp>
int main() {
  auto builder = popart::Builder::create();
  auto aiOnnx = builder->aiOnnxOpset9();
  popart::TensorInfo info{"FLOAT", std::vector<int64_t>{2, 2}};
  auto a = builder->addInputTensor(info);
  auto o = aiOnnx.add({a, a});
  builder->addOutputTensor(o);
  popart::DataFlow dataFlow(1, {{o, popart::AnchorReturnType("All")}});
  auto device =
      popart::DeviceManager::createDeviceManager().createCpuDevice();
  auto session = popart::InferenceSession::createFromOnnxModel(
      builder->getModelProto(), dataFlow, device);
  session->prepareDevice();
  float data[] = {1, 2, 3, 4}, result[4];
  popart::NDArrayWrapper<float> in(data, {2, 2}), out(result, {2, 2});
  std::map<popart::TensorId, popart::IArray &> inputs = {{a, in}};
  std::map<popart::TensorId, popart::IArray &> anchors = {{o, out}};
  popart::StepIO stepio(inputs, anchors);
  session->run(stepio);
  for (float value : result) std::cout << value << ' ';
}
"""


def test_cxx14_program_builds_and_runs_an_onnx_model(tmp_path, shell):
    (tmp_path / "program.cpp").write_text(ONNX_MODEL)
    output = shell(
        f"source enable.sh; cd {tmp_path}; g++ -std=c++14 -Wall -Werror "
        "-DONNX_NAMESPACE=onnx program.cpp -lpopart -lpoplar -o program; "
        "./program", TMPDIR=os.environ.get("TMPDIR", "/tmp"))
    assert output == "2 4 6 8"


CMAKE_PROJECT = """
cmake_minimum_required(VERSION 3.18)
project(program CXX)
find_package(poplar 3.3 REQUIRED)
find_package(poplibs REQUIRED)
add_executable(program program.cpp)
target_link_libraries(program popops poputil)
get_target_property(popc popc_bin LOCATION)
message(STATUS "popc is ${popc}")
"""


def test_cmake_finds_the_packages(root, tmp_path, shell):
    (tmp_path / "program.cpp").write_text(PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(CMAKE_PROJECT)
    output = shell(
        f"source enable.sh; unset CPATH LIBRARY_PATH; cd {tmp_path}; "
        "cmake -B build; cmake --build build >build.log; echo; build/program",
        TMPDIR=os.environ.get("TMPDIR", "/tmp"))
    assert f"popc is {root}/build/sdk/bin/popc\n" in output
    assert output.split("\n")[-1] == "2 5 5 8"
