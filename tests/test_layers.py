"""The include checker finds what it should, on a small made-up tree."""

import tomllib
from pathlib import Path

import pytest
from check_layers import Layers, find_breaches

TABLE = {
    "hidden": ["base"],
    "components": {
        "base": {"folder": "base", "uses": []},
        "middle": {"folder": "middle", "uses": ["base"]},
        "top": {"folder": "libs/top", "uses": ["middle"]},
    },
    "external": {"other/": "libother-dev"},
    "folders": {"middle": {"low": [], "high": ["low"]}},
}

FILES = [
    "base/include/base/B.hpp",
    "middle/include/middle/M.hpp",
    "middle/internal/middle/internal/I.hpp",
    "middle/src/low/Low.hpp",
    "middle/src/high/High.hpp",
    "libs/top/include/top/T.hpp",
    "libs/top/src/T.cpp",
]


@pytest.fixture
def breaches(tmp_path):
    for file in FILES:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()

    def of(file: str, include: str) -> list[str]:
        (tmp_path / file).write_text(f"// text\n#include {include}\n")
        return [
            str(b)
            for b in find_breaches(tmp_path, Layers(tmp_path, TABLE),
                                   [Path(file)])
        ]

    return of


@pytest.mark.parametrize("file, include", [
    ("libs/top/src/T.cpp", "<middle/M.hpp>"),
    ("libs/top/src/T.cpp", "<middle/internal/I.hpp>"),
    ("libs/top/src/T.cpp", "<base/B.hpp>"),
    ("libs/top/src/T.cpp", "<vector>"),
    ("libs/top/src/T.cpp", "<other/O.hpp>"),
    ("libs/top/include/top/T.hpp", "<middle/M.hpp>"),
    ("middle/src/high/High.hpp", '"low/Low.hpp"'),
    ("middle/internal/middle/internal/I.hpp", "<base/B.hpp>"),
])
def test_accepts(breaches, file, include):
    assert breaches(file, include) == []


@pytest.mark.parametrize("file, include, message", [
    ("base/include/base/B.hpp", "<middle/M.hpp>", "base may not include"),
    ("middle/src/low/Low.hpp", "<top/T.hpp>", "middle may not include"),
    ("libs/top/include/top/T.hpp", "<base/B.hpp>", "a public header"),
    ("middle/include/middle/M.hpp", "<middle/internal/I.hpp>",
     "a public header"),
    ("middle/src/low/Low.hpp", '"high/High.hpp"', "middle/src/low may not"),
    ("libs/top/src/T.cpp", "<unheard/U.hpp>", "in no library"),
    ("libs/top/src/T.cpp", "<middle/Missing.hpp>", "in no library"),
])
def test_rejects(breaches, file, include, message):
    found = breaches(file, include)
    assert len(found) == 1
    assert found[0].startswith(f"{file}:2: ")
    assert message in found[0]


def test_packages_of_external_headers_are_installed(root):
    table = tomllib.loads((root / "scripts/layers.toml").read_text())
    installer = (root / "scripts/install-dependencies.sh").read_text()
    for package in filter(None, table["external"].values()):
        assert package in installer.replace('"', " ").split()
