"""Builds and runs C++ programs against the SDK, in the way of its users."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Output:
    stdout: str
    stderr: str


class UserProgram:
    """A program built in a folder of its own, next to copies of its sources.

    Nothing but libraries is named to the compiler: headers and libraries are
    found by what enable.sh sets.
    """

    def __init__(self, source: Path, folder: Path, libraries=("poplar",),
                 flags=("-std=c++11",)):
        self.folder = folder
        self.program = folder / source.stem
        for file in source.parent.glob("*.[ch]pp"):
            shutil.copy(file, folder)
        subprocess.run(
            ["g++", *flags, "-Wall", "-Wextra", "-Werror", source.name,
             *(f"-l{library}" for library in libraries), "-o", self.program],
            cwd=folder, check=True)

    def run(self, *arguments: str, status: int = 0, **environment) -> Output:
        done = subprocess.run(
            [self.program, *arguments], cwd=self.folder, text=True,
            capture_output=True, timeout=600,
            env={**os.environ, **environment})
        assert done.returncode == status, done.stdout + done.stderr
        return Output(done.stdout, done.stderr)
