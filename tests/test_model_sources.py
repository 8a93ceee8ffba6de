"""Every figure of the model says where it is from, and those that are assumed
are on the page that lists them."""

import json
import re

import pytest

CONSTANT = re.compile(r"inline constexpr [\w:]+ (\w+) =\s*([^;]+);(.*)")
CONSTANTS = ("poplar/src/model/Constants.hpp", "poplibs/gcl/src/Constants.hpp")
MARK = re.compile(r"\[[VDA]")


@pytest.fixture
def assumed(root):
    """The rows of the table: what is assumed, and the names it has."""
    page = (root / "docs/model.md").read_text()
    section = page.split("## Assumed, all together")[1].split("\n## ")[0]
    return [row.split("|")[2:4] for row in re.findall(r"^\|.*", section, re.M)]


def constants(root):
    text = "".join((root / file).read_text() for file in CONSTANTS)
    found = CONSTANT.findall(text)
    assert len(found) == text.count("inline constexpr")
    return found


def figures(root):
    for file in sorted((root / "poplar/systems").glob("*.json")):
        for name, figure in json.loads(file.read_text()).items():
            if isinstance(figure, dict) and "value" in figure:
                yield file.name, name, figure


def test_every_constant_has_a_mark(root):
    assert [name for name, _, comment in constants(root)
            if not MARK.search(comment)] == []


def test_every_figure_of_a_system_has_a_mark(root):
    assert [(file, name) for file, name, figure in figures(root)
            if not MARK.match(figure.get("source", ""))] == []


def test_assumed_constants_are_listed_with_their_values(root, assumed):
    missing = [
        name for name, value, comment in constants(root) if "[A" in comment
        and not any(f"`{name}`" in names and
                    re.search(rf"(?<![\d.]){re.escape(value)}(?![\d.]*\d)",
                              values)
                    for values, names in assumed)
    ]
    assert missing == []


def test_assumed_figures_are_listed(root, assumed):
    missing = {
        (file, name) for file, name, figure in figures(root)
        if "[A" in figure["source"]
        and not any(f"*{name}*" in names and f"{figure['value']:g}" in values
                    for values, names in assumed)
    }
    assert missing == set()


def test_what_is_listed_is_assumed(root, assumed):
    known = {f"`{name}`" for name, _, comment in constants(root)
             if "[A" in comment}
    known |= {f"*{name}*" for _, name, figure in figures(root)
              if "[A" in figure["source"]}
    listed = [name for _, names in assumed
              for name in re.findall(r"`[^`]+`|\*[^*]+\*", names)]
    assert [name for name in listed if name not in known] == []
    assert len(listed) == len(set(listed)) == len(known)
