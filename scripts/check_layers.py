#!/usr/bin/python3
"""Checks every include line against the table in layers.toml.

Prints each line that breaks a rule and exits with 1 if there is one.
"""

import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
SOURCES = (".hpp", ".cpp", ".h", ".c", ".def")


@dataclass
class Breach:
    file: Path
    line: int
    message: str

    def __str__(self):
        return f"{self.file}:{self.line}: {self.message}"


class Layers:
    """The table, with what each component reaches worked out."""

    def __init__(self, root: Path, table: dict):
        self.root = root
        self.hidden = set(table["hidden"])
        self.external = tuple(table["external"])
        components = table["components"]
        self.folder = {n: Path(c["folder"]) for n, c in components.items()}
        self.reach = closure({n: c["uses"] for n, c in components.items()})
        self.inner = table.get("folders", {})

    def component_of(self, file: Path) -> str | None:
        for name, folder in self.folder.items():
            if file.is_relative_to(folder):
                return name
        return None

    def owner_of(self, included: str) -> tuple[str, str] | None:
        """The component and the kind of folder that `included` is found in."""
        for name, folder in self.folder.items():
            for kind in ("include", "internal"):
                if (self.root / folder / kind / included).exists():
                    return name, kind
        return None

    def check(self, file: Path, included: str) -> str | None:
        """What is wrong with `file` including `included`, or None."""
        component = self.component_of(file)
        if component is None:
            return None
        inside = file.relative_to(self.folder[component])
        owner = self.owner_of(included)
        if owner is None and self.is_own_source(file, component, included):
            return self.check_folders(component, inside, included)
        if owner is None:
            return self.check_external(included)
        name, kind = owner
        if name != component and name not in self.reach[component]:
            return f"{component} may not include <{included}> of {name}"
        is_public = inside.parts[0] == "include"
        if not is_public or component in self.hidden:
            return None
        if kind != "include" or name in self.hidden:
            return f"a public header may not include <{included}>"
        return None

    def is_own_source(self, file: Path, component, included) -> bool:
        home = self.folder[component]
        folders = [file.parent, home / "src"]
        if file.is_relative_to(home / "tests"):  # shared by sister libraries
            folders.append(home.parent / "testing")
        if file.is_relative_to(home / "conformance"):
            folders.append(home.parent / "testing/conformance")
        return any((self.root / f / included).exists() for f in folders)

    def check_external(self, included: str) -> str | None:
        is_standard = "/" not in included and "." not in included
        if is_standard or included.startswith(self.external):
            return None
        return f"<{included}> is in no library that layers.toml names"

    def check_folders(self, component, inside, included) -> str | None:
        """Rules between the folders of one component's src/."""
        allowed = self.inner.get(component, {})
        target = Path(included).parts[0]
        if inside.parts[0] != "src" or target not in allowed:
            return None
        here = inside.parts[1]
        if here == target or here not in allowed or target in allowed[here]:
            return None
        return f"{component}/src/{here} may not include {component}/src/{target}"


def closure(uses: dict[str, list[str]]) -> dict[str, set[str]]:
    """Everything reachable from each name."""

    def visit(name, found):
        for other in uses[name]:
            if other not in found:
                found.add(other)
                visit(other, found)
        return found

    return {name: visit(name, set()) for name in uses}


def find_breaches(root: Path, layers: Layers, files) -> list[Breach]:
    breaches = []
    for file in files:
        lines = (root / file).read_text().splitlines()
        for number, line in enumerate(lines, 1):
            if match := INCLUDE.match(line):
                if message := layers.check(file, match[1]):
                    breaches.append(Breach(file, number, message))
    return breaches


def tracked_sources(root: Path) -> list[Path]:
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=root, check=True, capture_output=True, text=True,
    ).stdout.splitlines()
    return [
        Path(n) for n in names if n.endswith(SOURCES) and (root / n).exists()
    ]


def main() -> int:
    root = Path(__file__).resolve().parent.parent
    with open(root / "scripts/layers.toml", "rb") as table:
        layers = Layers(root, tomllib.load(table))
    files = tracked_sources(root)
    breaches = find_breaches(root, layers, files)
    for breach in breaches:
        print(breach)
    print(f"{len(files)} files, {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
