"""gc-info and gc-monitor, as users type them and as scripts read them."""

import getpass
import ipaddress
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from user_program import UserProgram

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "tests/poplar_programs"
SINGLE = re.compile(r"-\+- Id:\s+\[(\d+)\], target: \[Fabric\], "
                    r"IPU-M host:\s+\[([\d.]+)\], IPU#: \[(\d)\]")
GROUP = re.compile(r"-\+- Id:\s+\[(\d+)\], target: \[Multi IPU\]")
MEMBER = re.compile(r" \|--- Id:\s+\[(\d+)\], DNC Id:\s+\[(\d+)\], "
                    r"IPU-M host:\s+\[([\d.]+)\], IPU#: \[(\d)\]")

PATIENCE = 60  # seconds for a process to get to work, on a busy machine


class Tools:
    """The installed programs, on a system of their own that nobody else sees."""

    def __init__(self, folder: Path, registry: Path):
        self.folder = folder
        self.registry = {"ASPEN_REGISTRY": str(registry)}
        # No LD_LIBRARY_PATH: they find their libraries themselves.
        self.environment = {"PATH": "/usr/bin:/bin", **self.registry}

    def run(self, tool: str, *arguments: str, code: int = 0, **environment):
        done = subprocess.run(
            [self.folder / tool, *arguments], text=True, capture_output=True,
            timeout=60, env={**self.environment, **environment})
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def info(self, *arguments: str, **environment) -> str:
        return self.run("gc-info", *arguments, **environment).stdout

    def monitor(self, *arguments: str, **environment) -> str:
        return self.run("gc-monitor", *arguments, **environment).stdout

    def ipus(self, **environment) -> dict[str, dict[str, str]]:
        """The IPUs of gc-monitor --json, by id."""
        cards = json.loads(self.monitor("--json", **environment))["cards"]
        return {ipu["ID"]: ipu for card in cards for ipu in card["ipus"]}

    @contextmanager
    def background(self, *command):
        """A process that uses IPUs, once it has said "attached"."""
        with subprocess.Popen(
                [str(c) for c in command], text=True, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, env={**os.environ, **self.registry}) as process:
            try:
                assert process.stdout.readline() == "attached\n"
                yield process
            finally:
                process.kill()


@pytest.fixture
def tools(tmp_path):
    registry = tmp_path / "registry"
    registry.mkdir()
    return Tools(ROOT / "build/sdk/bin", registry)


@pytest.fixture(scope="module")
def holder(tmp_path_factory):
    return UserProgram(PROGRAMS / "hold_device.cpp",
                       tmp_path_factory.mktemp("hold")).program


@pytest.mark.parametrize("system, ipus, devices", [
    ("bow-pod4", 4, 7), ("pod16", 16, 31), ("bow-pod64", 64, 127)])
def test_listing_is_what_scripts_parse(tools, system, ipus, devices):
    text = tools.info("-l", ASPEN_SYSTEM=system)
    lines = text.splitlines()
    assert lines[0] == "Graphcore device listing:"
    assert re.fullmatch(r"Partition: \S+ \[active\]", lines[1])

    singles = [SINGLE.fullmatch(line) for line in lines[2:2 + ipus]]
    assert [int(m[1]) for m in singles] == list(range(ipus))
    assert [int(m[3]) for m in singles] == [3, 2, 1, 0] * (ipus // 4)
    hosts = [ipaddress.ip_address(m[2]) for m in singles]
    assert len(set(hosts)) == ipus // 4 and all(h.is_loopback for h in hosts)

    members = {}
    for line in lines[2 + ipus:]:
        if match := GROUP.fullmatch(line):
            members[int(match[1])] = []
        else:
            match = MEMBER.fullmatch(line)
            group = members[max(members)]
            assert int(match[2]) == len(group)
            assert match.group(3, 4) == singles[int(match[1])].group(2, 3)
            group.append(int(match[1]))
    # base(g) = 2N - 2N/g, children j*g .. j*g+g-1.
    expected, size = {}, 2
    while size <= ipus:
        for j in range(ipus // size):
            expected[2 * ipus - 2 * ipus // size + j] = list(
                range(j * size, (j + 1) * size))
        size *= 2
    assert members == expected
    assert len(singles) + len(members) == devices

    # Values that differ in length line up.
    assert len({line.index("]") for line in lines[2:] if "-+-" in line}) == 1
    assert len({line.index(", IPU#") for line in lines[2:2 + ipus]}) == 1
    without_groups = "\n".join(lines[:2 + ipus]) + "\n"
    for options in (["-l", "--all-partitions"], ["--list-all-devices"]):
        assert tools.info(*options, ASPEN_SYSTEM=system) == without_groups


def test_pcie_boards_are_listed_by_their_slots(tools):
    lines = tools.info("-l", ASPEN_SYSTEM="c2").splitlines()
    slots = [attributes(tools.info("-i", "-d", id, ASPEN_SYSTEM="c2"))
             for id in ("0", "1")]
    assert lines[2:] == [
        *(f"-+- Id: [{a['id']}], target: [{a['target']}], "
          f"PCI Domain: [{a['pci id']}]" for a in slots),
        "-+- Id: [2], target: [Multi IPU]",
        *(f" |--- PCIe Id: [{i}], DNC Id: [{i}], PCI Domain: [{a['pci id']}]"
          for i, a in enumerate(slots))]
    assert slots[0]["target"] == "PCIe"


def test_list_has_a_long_name_and_default_of_16_bow_ipus(tools):
    assert tools.info("-l") == tools.info("--list-devices")
    assert int(tools.info("--ipu-count")) == 16
    assert tools.info("--tile-clock-speed", "-d", "0") == "1850MHz\n"


@pytest.mark.parametrize("system, count, arch, clock, rows", [
    ("pod4", 4, "ipu2", "1330MHz", 23), ("bow-pod64", 64, "ipu2", "1850MHz", 23),
])
def test_single_figures(tools, system, count, arch, clock, rows):
    def info(*arguments):
        return tools.info(*arguments, ASPEN_SYSTEM=system)

    assert info("--ipu-count") == f"{count}\n"
    assert info("--ipu-arch", "-d0") == f"{arch}\n"
    assert info("--tile-clock-speed", "--device-id=1") == f"{clock}\n"
    assert len(info("--chip-id", "-d", str(count)).splitlines()) == 2
    grid = info("--tile-overview", "-d", "0").splitlines()
    assert grid[0].split() == [str(i) for i in range(16)]
    assert [line.split() for line in grid[1:]] == [
        [str(row), *["::::"] * 16] for row in range(rows)]
    assert info("--tile-overview", "-d", str(count)) == "".join(
        f"IPU {i}:\n" + "\n".join(grid) + "\n" for i in range(2))


def attributes(text: str) -> dict[str, str]:
    lines = text.splitlines()
    assert lines[0] == "Device Info:"
    pairs = [re.fullmatch(r"  ([^:]+): (.*)", line) for line in lines[1:]]
    keys = [pair[1] for pair in pairs]
    assert keys == ["id", "target"] + sorted(set(keys) - {"id", "target"})
    return {pair[1]: pair[2] for pair in pairs}


def test_attributes(tools):
    single = attributes(tools.info("-i", "-d", "5"))
    assert single["id"] == "5" and single["target"] == "Fabric"
    assert single["clock"] == "1850MHz"
    assert single["ipu architecture"] == "ipu2"
    assert single["remote buffers supported"] == "1"
    # Nothing pretends to be measured, or to be a board that was sold.
    assert single["average board temp"] == single["ipu power"] == "N/A"
    assert single["board serial number"].startswith("SIM")
    assert not [key for key in single if key.startswith("user ")]

    group = attributes(tools.info("--device-info", "--device-id", "30"))
    assert group["id"] == "30" and group["target"] == "Multi IPU"
    assert tools.info("-I", "-d30") == tools.info("-i", "-d30")


def test_monitor_of_a_free_system(tools):
    lines = tools.monitor(ASPEN_SYSTEM="bow-pod16").splitlines()
    assert {len(line) for line in lines} == {99}
    assert re.search(r"Partition: \S+ \[active\] has 16 reconfigurable IPUs",
                     lines[1])
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in lines if re.search(r"\| DNC |  DNC  ", line)]
    assert [row[6] for row in rows] == [str(i) for i in range(16)]
    assert [row[7] for row in rows] == ["3", "2", "1", "0"] * 4
    info = attributes(tools.info("-i", "-d", "6"))
    assert rows[6] == [
        info["ipuof host"], info["board serial number"],
        info["gateway software version"], info["ipuof server version"],
        info["firmware version"], info["board type"], "6",
        info["board ipu index"], info["ipuof routing type"]]
    # Four machines with a line around each.
    assert len([line for line in lines if line.startswith("+-------------+-")
                ]) == 2 + 4
    assert "No attached processes in partition" in lines[-2]
    assert tools.monitor("--no-card-info", ASPEN_SYSTEM="bow-pod16") == (
        "\n".join(lines[-3:]) + "\n")
    assert tools.monitor("--all-partitions") == tools.monitor()


def strings_only(value) -> bool:
    if isinstance(value, dict):
        return all(map(strings_only, value.values()))
    if isinstance(value, list):
        return all(map(strings_only, value))
    return isinstance(value, str)


@pytest.mark.parametrize("option", ["-j", "--json", "--json-output"])
@pytest.mark.parametrize("system, ipus", [("pod4", 4), ("pod64", 64)])
def test_json(tools, option, system, ipus):
    text = json.loads(tools.monitor(option, ASPEN_SYSTEM=system))
    assert strings_only(text)
    assert 4 * len(text["cards"]) == ipus
    for card in text["cards"]:
        ipaddress.ip_address(card["IPU-M"])
        assert card["Type"] == "M2000"
        for ipu in card["ipus"]:
            assert ipu["Serial"].startswith("SIM")
            assert int(ipu["PCIe ID"]) == int(ipu["ID"])
            assert ipu["IPU utilisation"] == "0.00%"
            assert ipu["IPU utilisation session"] == "0.00%"
            assert "PID" not in ipu and "User" not in ipu


def process_rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")]
            for line in text.splitlines() if re.match(r"\|\s+\d+\s+\|", line)]


def test_processes_are_shown_until_they_are_gone(tools, holder):
    user = getpass.getuser()
    # The pair 16 is IPUs 0 and 1; IPU 5 is of another machine.
    with tools.background(holder, "16", "5") as first, \
            tools.background(holder, "2") as second:
        rows = process_rows(tools.monitor("--no-card-info"))
        for row in rows:
            assert re.fullmatch(r"\d+s", row.pop(2))
        pids = str(first.pid), str(second.pid)
        cells = ["hold_device", user if len(user) <= 12 else "..." + user[-9:]]
        assert rows == [
            [pids[0], *cells, "0", "1850MHz", "N/A", "N/A", "N/A"],
            [pids[0], *cells, "1", "1850MHz", "N/A", "", ""],
            [pids[1], *cells, "2", "1850MHz", "N/A", "", ""],
            [pids[0], *cells, "5", "1850MHz", "N/A", "N/A", "N/A"]]
        assert "No attached processes" not in tools.monitor()

        ipus = tools.ipus()
        assert {i: p["PID"] for i, p in ipus.items() if "PID" in p} == {
            "0": pids[0], "1": pids[0], "2": pids[1], "5": pids[0]}
        assert ipus["0"]["Command"] == "hold_device"
        assert ipus["0"]["User"] == user

        info = attributes(tools.info("-i", "-d", "2"))
        assert info["user process id"] == pids[1]
        assert info["user executable"].endswith("hold_device")
        assert info["user name"] == user
        taken = tools.run("gc-info", "--tile-overview", "-d", "17", code=1)
        assert taken.stdout == ""
        assert (f"IPU 2 is in use by process {pids[1]} (hold_device)"
                in taken.stderr)
        # Looking took nothing away from them, and 3 is still free.
        with tools.background(holder, "3"):
            assert len(process_rows(tools.monitor())) == 5

        first.send_signal(signal.SIGKILL)
        first.wait()
        assert [row[0] for row in process_rows(tools.monitor())] == [pids[1]]
        assert "PID" not in tools.ipus()["0"]
        second.stdin.close()
        second.wait()
        assert "No attached processes in partition" in tools.monitor()


def test_processes_of_other_namespaces(tools, holder):
    apart = ["unshare", "--map-root-user", "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*apart, "true"], capture_output=True).returncode != 0:
        pytest.skip("this machine does not let us make namespaces")
    with tools.background(holder, "1"):
        lines = subprocess.run(
            [*apart, tools.folder / "gc-monitor", "--no-card-info"], text=True,
            capture_output=True, check=True,
            env=tools.environment).stdout.splitlines()
    assert {len(line) for line in lines} == {88}
    assert re.search(r"IPUs in \S+ attached from other namespaces", lines[1])
    assert [cell.strip() for cell in lines[5].strip("|").split("|")] == [
        "1", os.uname().nodename[-30:], "1850MHz", "N/A", "N/A", "N/A"]


TRAIN = """
import poptorch, torch
class Line(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fit = torch.nn.Linear(64, 64)
    def forward(self, x):
        y = self.fit(x)
        return poptorch.identity_loss(y * y, reduction="mean")
model = Line()
options = poptorch.Options().useIpuId(3).deviceIterations(100)
ipu = poptorch.trainingModel(model, options)
x = torch.ones(100, 64)
ipu(x)
print("attached", flush=True)
while True:
    ipu(x)
"""


def share(percent: str) -> float:
    match = re.fullmatch(r"(\d+\.\d\d)%", percent)
    assert 0 <= float(match[1]) <= 100
    return float(match[1])


def test_training_is_shown_at_work(tools):
    with tools.background(sys.executable, "-c", TRAIN) as training:
        deadline = time.monotonic() + PATIENCE
        while True:
            ipu = tools.ipus()["3"]
            assert ipu["PID"] == str(training.pid)
            if min(share(ipu["IPU utilisation"]),
                   share(ipu["IPU utilisation session"])) > 0:
                break
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert ipu["Command"].startswith("python3")
        assert "PID" not in tools.ipus()["2"]
        training.send_signal(signal.SIGKILL)
        training.wait()
        assert "PID" not in tools.ipus()["3"]


@pytest.mark.parametrize("width", [80, 117, 200])
def test_process_table_fills_the_terminal(tools, holder, width):
    with tools.background(holder, "0"):
        lines = tools.monitor("--no-card-info",
                              COLUMNS=str(width)).splitlines()
        assert {len(line) for line in lines} == {max(117, width)}


def test_width_of_a_terminal_without_the_variable(tools, holder):
    with tools.background(holder, "0"):
        assert len(tools.monitor().splitlines()[-1]) == 117
        master, slave = pty.openpty()
        subprocess.run(["stty", "cols", "150"], stdin=slave, check=True)
        subprocess.run([tools.folder / "gc-monitor", "--no-card-info"],
                       stdout=slave, env=tools.environment, check=True)
        os.close(slave)
        lines = os.read(master, 65536).decode().splitlines()
        os.close(master)
        assert {len(line) for line in lines} == {150}


@pytest.mark.parametrize("command", [
    ("gc-info", "--version"), ("gc-info", "-v"), ("gc-monitor", "--version"),
    ("gc-monitor", "-v"), ("gc-monitor", "version")])
def test_version(tools, command):
    assert tools.run(*command).stdout == "Poplar version: 3.3.0\n"


@pytest.mark.parametrize("tool", ["gc-info", "gc-monitor"])
def test_help(tools, tool):
    for option in "-h", "--help":
        text = tools.run(tool, option).stdout
        assert f"Usage: {tool}" in text and "--version" in text


def test_a_system_without_ipus(tools):
    none = {"ASPEN_SYSTEM": "none"}
    assert tools.info("--ipu-count", **none) == "0\n"
    for arguments in (["-l"], ["-i", "-d0"], ["--ipu-arch", "-d", "0"]):
        done = tools.run("gc-info", *arguments, code=1, **none)
        assert done.stdout == ""
        assert done.stderr == "gc-info: no IPU detected in the system\n"
    for arguments in ([], ["--json"]):
        done = tools.run("gc-monitor", *arguments, code=1, **none)
        assert done.stdout == ""
        assert done.stderr == (
            "gc-monitor: no active partition: the system has no IPUs\n")


@pytest.mark.parametrize("command", [
    ("gc-info", "-l"), ("gc-info", "--ipu-count"), ("gc-monitor",)])
def test_a_system_that_does_not_exist(tools, command):
    done = tools.run(*command, code=1, ASPEN_SYSTEM="pod5")
    assert done.stdout == ""
    assert done.stderr.startswith(f"{command[0]}: ")
    assert "pod5" in done.stderr and "bow-pod16" in done.stderr


@pytest.mark.parametrize("arguments, message", [
    (("gc-info",), "nothing to print was asked for\n"),
    (("gc-info", "--frob"), "not expected: --frob\nThere are: "),
    (("gc-monitor", "--frob"), "not expected: --frob\nThere are: "),
    (("gc-info", "-l", "--ipu-count"),
     "both --list-devices and --ipu-count given; choose one\n"),
    (("gc-info", "-i"), "needs a device: -d ID; the system has devices 0 to 30"),
    (("gc-info", "-i", "-d", "31"),
     "no device '31'; the system has devices 0 to 30\n"),
    (("gc-info", "-i", "-dx"),
     "no device 'x'; the system has devices 0 to 30\n"),
    (("gc-info", "--tile-status", "-", "-d", "0", "-c", "W1", "-r", "PC"),
     "the emulated machine has no tile registers"),
    (("gc-info", "--dump-mem", "0", "0x4c000", "64", "-d0"),
     "the emulated machine has no tile memory to read"),
    (("gc-info", "--xb-status", "-d0"), "no exchange block registers"),
    (("gc-info", "--gsp-status", "-d0"), "no global sync registers"),
    (("gc-info", "--pci-status", "-d0"), "no PCI registers"),
])
def test_mistakes_are_explained(tools, arguments, message):
    done = tools.run(*arguments, code=1)
    assert done.stdout == ""
    assert done.stderr.startswith(f"{arguments[0]}: ")
    assert message in done.stderr


def test_output_that_nobody_reads(tools):
    for signals in "", "trap '' PIPE; ":
        done = subprocess.run(
            ["bash", "-c", f"{signals}{tools.folder}/gc-monitor | head -1"],
            text=True, capture_output=True, env=tools.environment)
        assert done.stdout.startswith("+-------") and done.stderr == ""
    done = subprocess.run(
        ["bash", "-c", f"{tools.folder}/gc-info -l >/dev/full"], text=True,
        capture_output=True, env=tools.environment)
    assert done.returncode == 1
    assert done.stderr.startswith("gc-info: cannot write: ")


def samples() -> list[tuple[str, str]]:
    """Commands of the document and what it says that they print."""
    text = (ROOT / "docs/tools.md").read_text()
    return re.findall(r"^```\n\$ ([^#\n]+)\n(.*?)^```$", text,
                      re.DOTALL | re.MULTILINE)


def test_document_has_samples():
    assert {command.split()[0] for command, _ in samples()} >= {
        "gc-info", "ASPEN_SYSTEM=bow-pod4"}


@pytest.mark.parametrize("command, shown", samples())
def test_document_shows_what_is_printed(tools, command, shown):
    printed = subprocess.run(
        ["bash", "-c", command], text=True, capture_output=True, check=True,
        env={**tools.environment,
             "PATH": f"{tools.folder}:/usr/bin:/bin"}).stdout
    # A line of dots stands for the rest.
    if shown.endswith("\n...\n"):
        shown = shown.removesuffix("...\n")
        printed = printed[:len(shown)]
    assert printed == shown


def test_answers_come_at_once(tools):
    def seconds():
        start = time.monotonic()
        tools.monitor(ASPEN_SYSTEM="bow-pod64")
        return time.monotonic() - start

    # The least of some: other tests may be running.
    assert min(seconds() for _ in range(5)) < 0.5
