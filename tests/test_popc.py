"""popc's command line, as users type it."""

import os
import re
import subprocess
from pathlib import Path

import pytest

SOURCE = """\
#include <poplar/Vertex.hpp>
#ifdef NEEDS_HEADER
#include <value.hpp>
#endif
#ifndef VALUE
#define VALUE 1
#endif
class {name} : public poplar::Vertex {{
  poplar::Output<int> out;
public:
  bool compute() {{
    *out = VALUE;
    return true;
  }}
}};
"""


class Popc:
    def __init__(self, program: Path, folder: Path):
        self.program = program
        self.folder = folder
        for name in "First", "Second":
            self.write(f"{name}.cpp", SOURCE.format(name=name))

    def write(self, name: str, text: str):
        (self.folder / name).write_text(text)

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def __call__(self, *arguments, code=0, **environment):
        result = subprocess.run(
            [self.program, *arguments], cwd=self.folder, text=True,
            capture_output=True,
            env={"PATH": "/usr/bin:/bin", "TMPDIR": str(self.folder),
                 "ASPEN_CACHE_DIR": str(self.folder / "cache"), **environment})
        assert result.returncode == code, result.stderr
        return result

    def stderr_of_failure(self, *arguments) -> str:
        return self(*arguments, code=1).stderr


@pytest.fixture
def popc(root, tmp_path):
    return Popc(root / "build/sdk/bin/popc", tmp_path)


def test_information(popc):
    assert popc("--list-targets").stdout == "cpu,ipu1,ipu2,ipu21\n"
    # PopTorch takes the first such word for the hash of the package.
    version = popc("--version").stdout
    assert re.match(r"POPLAR version 3\.3\.0 \(([0-9a-f]{10})\)\n", version)
    assert re.search(r"[a-z0-9]{10,32}", version)[0] == version.split()[3][1:-1]
    assert "clang version" in version.splitlines()[1]
    assert popc("--help").stdout.startswith("Usage: popc")


def test_output_has_a_default_name_and_no_remains(popc):
    result = popc("First.cpp")
    assert (result.stdout, result.stderr) == ("", "")
    assert popc.read("a.gp").startswith(b"ASPEN.gp")
    assert sorted(os.listdir(popc.folder)) == [
        "First.cpp", "Second.cpp", "a.gp", "cache"]


@pytest.mark.parametrize("flags", [
    ("-O0",), ("-O3", "-g"), ("-I.", "-DNEEDS_HEADER"),
    ("-I", ".", "-D", "NEEDS_HEADER"), ("-Wall", "-Werror"), ("-std=c++20",),
    ("--target", "ipu1,ipu2"), ("--target=ipu21",), ("-target=ipu2",),
    ("-target", "cpu"), ("--target", '["ipu2", {"name": "ipu2:cpp", '
     '"arch": "ipu2", "compile-flags": ["-DVALUE=7"]}]'),
])
def test_options_are_taken(popc, flags):
    popc.write("value.hpp", "")
    popc(*flags, "First.cpp", "-o", "out.gp")
    assert b"First" in popc.read("out.gp")


def test_options_come_from_files(popc):
    popc.write("more.txt", "-DVALUE=1234567\n-S First.cpp")
    popc("--options-file", "more.txt", "--output-file", "out.s")
    assert b"$1234567," in popc.read("out.s")


def test_flags_reach_the_compiler(popc):
    def assembly(*flags):
        popc("-S", *flags, "First.cpp", "-o", "out.s")
        return popc.read("out.s")

    assert b"$1234567," not in assembly()
    assert b"$1234567," in assembly("-DVALUE=1234567")
    assert b"$1234567," in assembly(
        '--target={"name": "ipu2", "compile-flags": ["-DVALUE=1234567"]}')


def test_inputs_are_linked(popc):
    popc("First.cpp", "-o", "first.gp")
    popc("First.cpp", "Second.cpp", "-o", "together.gp")
    popc("first.gp", "Second.cpp", "-o", "linked.gp")
    for name in "together.gp", "linked.gp":
        assert b"First" in popc.read(name) and b"Second" in popc.read(name)


@pytest.mark.parametrize("arguments, message", [
    ((), "popc: no input files"),
    (("--no-such-option", "First.cpp"), "unknown option --no-such-option"),
    (("-march=native", "First.cpp"), "unknown option -march=native"),
    (("--options-file", "none.txt"), "cannot read the options file none.txt"),
    (("--options-file=self.txt",), "does it name itself?"),
    (("none.cpp",), "popc: cannot read none.cpp"),
    (("none.gp",), "popc: cannot read none.gp"),
    (("code.S",), "there is no assembler for IPUs"),
    (("First.cpp", "-o"), "option -o needs a value"),
    (("First.cpp", "-o", "no/folder/x.gp"), "cannot write no/folder/x.gp"),
    (("--target", "ipu9", "First.cpp"), "unknown target 'ipu9'"),
    (("--target", "[ipu2]", "First.cpp"), "no valid JSON"),
    (("--target", "[3]", "First.cpp"), "a target is a name or an object"),
    (("-x", "java", "First.cpp"), "unknown language 'java'"),
    (("-Inowhere", "-DNEEDS_HEADER", "First.cpp"),
     "First.cpp:3:10: fatal error: 'value.hpp' file not found"),
    (("-DVALUE=nothing", "First.cpp"),
     "First.cpp:12:12: error: use of undeclared identifier 'nothing'"),
])
def test_mistakes_are_explained(popc, arguments, message):
    popc.write("self.txt", "--options-file=self.txt First.cpp")
    assert message in popc.stderr_of_failure(*arguments)
    assert not (popc.folder / "a.gp").exists()


def test_damaged_input_is_refused(popc):
    popc("First.cpp")
    whole = popc.read("a.gp")
    (popc.folder / "a.gp").write_bytes(whole[:-1])
    assert "a.gp: it is damaged" in popc.stderr_of_failure("a.gp", "-o", "b.gp")


def test_without_a_compiler(popc):
    result = popc("First.cpp", code=2, PATH=str(popc.folder))
    assert "clang++, which is not on PATH" in result.stderr
