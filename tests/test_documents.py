"""The documents are true: their programs run and their links lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"),
             *ROOT.glob("examples/*/*.md")]
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)[^)]*\)")
# A Python program followed by what it prints.
PROGRAM = re.compile(r"```python\n(.*?)```\n\n```\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.name)
def test_links_lead_to_files(document):
    missing = [
        link for link in LINK.findall(document.read_text())
        if not (document.parent / link).exists()
    ]
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.name)
def test_files_that_are_named_exist(document):
    folders = "|".join(p.name for p in ROOT.iterdir()
                       if p.is_dir() and p.name != "build")
    named = re.findall(rf"`((?:{folders})/[\w/.-]+\.\w+)`",
                       document.read_text())
    assert [n for n in named if not (ROOT / n).exists()] == []


def test_readme_has_a_program():
    assert PROGRAM.search((ROOT / "README.md").read_text())


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.name)
def test_programs_print_what_is_shown(document, tmp_path):
    for program, expected in PROGRAM.findall(document.read_text()):
        done = subprocess.run([sys.executable, "-c", program], text=True,
                              cwd=tmp_path, capture_output=True)
        assert done.returncode == 0, done.stderr
        assert done.stdout == expected


def test_code_is_in_the_file_that_it_is_said_to_be_in(root):
    document = (root / "docs/extending-popart.md").read_text()
    quotes = re.findall(r"^`([\w/.]+)`:\n\n```\w+\n(.*?)```", document,
                        re.DOTALL | re.MULTILINE)
    assert len(quotes) >= 8
    for name, code in quotes:
        assert code in (root / name).read_text(), f"{name} has not:\n{code}"


def test_every_pass_of_popart_is_documented_in_order(root):
    lists = (root / "popart/src/transforms/Pipeline.cpp").read_text()
    run = re.findall(r'\{"(\w+)", \w+(, true)?\}', lists)
    table = (root / "docs/popart-passes.md").read_text()
    documented = re.findall(r"^\| `(\w+)`( \(optional\))? \| [A-Z].*\. \|$",
                            table, re.MULTILINE)
    assert [(name, bool(o)) for name, o in documented] == [
        (name, bool(o)) for name, o in run]


def test_every_variable_of_ours_is_documented(root):
    tracked = subprocess.run(
        ["git", "ls-files", "*.cpp", "*.hpp", "*.py"], cwd=root, text=True,
        capture_output=True, check=True).stdout.splitlines()
    read = set()
    for name in tracked:
        if "/tests/" not in name and (root / name).exists():
            read |= set(re.findall(r'"(ASPEN_[A-Z_]+)"',
                                   (root / name).read_text()))
    documented = set(re.findall(r"^\| `(ASPEN_[A-Z_]+)`",
                                (root / "docs/options.md").read_text(),
                                re.MULTILINE))
    # Where the tests find the build is not a user's business.
    assert read - {"ASPEN_BUILD"} == documented
