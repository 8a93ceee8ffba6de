"""What must hold of every tracked file."""

import re
import subprocess

# Folders of somebody's own machine, which mean nothing on another. The names
# stand apart from their slash so that this file passes its own test.
OWN_FOLDERS = ("work", "farm", "root", "home/[a-z]+")
MACHINE_PATH = re.compile(
    r"(?:^|[^\w./~$}-])/(?:" + "|".join(OWN_FOLDERS) + r")(?:[/\s\"'`]|$)")


def tracked_text(root):
    names = subprocess.run(
        ["git", "ls-files"], cwd=root, check=True, capture_output=True,
        text=True).stdout.splitlines()
    for name in names:
        path = root / name
        if path.is_file():
            data = path.read_bytes()
            if b"\0" not in data:
                yield name, data.decode()


def test_machine_path_pattern_sees_paths_only():
    slash = "/"
    assert MACHINE_PATH.search(f"see {slash}work/x")
    assert MACHINE_PATH.search(f"'{slash}root/.config'")
    assert not MACHINE_PATH.search("the framework/layers and ~/work/data")
    assert not MACHINE_PATH.search("src/root/node.cpp")


def test_no_file_holds_a_path_of_somebodys_machine(root):
    found = [
        f"{name}:{number}: {line.strip()}"
        for name, text in tracked_text(root)
        for number, line in enumerate(text.splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]
    assert found == []


def test_scripts_are_executable(root):
    for script in [*root.glob("scripts/*.sh"), root / ".ci/run"]:
        assert script.stat().st_mode & 0o111, f"{script} is not executable"
