"""Chips and systems: their document is true, and users can copy them."""

import json
import re
import subprocess

import pytest

PROGRAM = r"""
#include <cstdio>
#include <poplar/Target.hpp>
int main(int, char **argv) {
  while (*++argv) {
    poplar::Target target = poplar::Target::createIPUTarget(*argv);
    std::printf("%u %u %.0f\n", target.getNumIPUs(), target.getTilesPerIPU(),
                target.getTileClockFrequency() / 1e6);
  }
}
"""


@pytest.fixture
def files(root):
    paths = (root / "poplar/systems").glob("*.json")
    return {path.stem: json.loads(path.read_text()) for path in paths}


@pytest.fixture
def document(root):
    return (root / "docs/systems.md").read_text()


@pytest.fixture
def describe(root, tmp_path):
    """IPUs, tiles per IPU and MHz of systems, as a user's program sees them."""
    sdk = root / "build/sdk"
    (tmp_path / "program.cpp").write_text(PROGRAM)
    subprocess.run(
        ["g++", "-std=c++11", f"-I{sdk}/include", "program.cpp",
         f"-L{sdk}/lib", f"-Wl,-rpath,{sdk}/lib", "-lpoplar", "-o", "program"],
        check=True, cwd=tmp_path)

    def run(*systems):
        done = subprocess.run(["./program", *map(str, systems)], text=True,
                              check=True, cwd=tmp_path, capture_output=True)
        return done.stdout.splitlines()

    return run


def test_document_has_the_figures_of_the_files(files, document):
    rows = re.findall(
        r"^\| `(.+)` \| (.*?) ?\| .+ to .+ \| (.+) \| (\[.+) \|$", document,
        re.MULTILINE)
    documented = {
        name: {"value": json.loads(value), "unit": unit or "1",
               "source": source}
        for name, unit, value, source in rows}
    figures = {name: figure for name, figure in files["ipu2"].items()
               if isinstance(figure, dict)}
    assert documented == figures


def test_document_names_every_file(files, document):
    rows = re.findall(r"^\| (`.+?) \|", document, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(.+?)`", row)}
    assert set(files) - named == set()


def test_sdk_has_all_files(root, files, describe):
    installed = sorted((root / "build/sdk/share/aspen/systems").iterdir())
    assert {path.stem for path in installed} == set(files)
    # A copy is what the library has built in.
    assert describe(*installed) == describe(*[path.stem for path in installed])


def test_examples_of_the_document_are_systems(tmp_path, document, describe):
    for example in re.findall(r"```json\n(.*?)```", document, re.DOTALL):
        name = json.loads(example)["name"]
        (tmp_path / f"{name}.json").write_text(example)
    assert describe("wide.json", "wide-ring.json") == [
        "16 2944 1850", "1024 2944 2100"]
