# Compiled models in files and in the cache.
import os
import subprocess
import sys

import pytest
import torch

import poptorch
from models import Small, smallData


def options():
    result = poptorch.Options()
    result.outputMode(poptorch.OutputMode.All)
    return result.showCompilationProgressBar(False)


def sgd(model):
    return poptorch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def train(executor, data, steps):
    return [executor(*data)[1].item() for _ in range(steps)]


def test_savedTrainingGoesOnWhereItWas(tmp_path):
    torch.manual_seed(1)
    data = smallData(4)
    model = Small()
    executor = poptorch.trainingModel(model, options(), sgd(model))
    before = train(executor, data, 3)
    file = tmp_path / "new folder" / "model.poptorch"
    executor.save(str(file))
    expected = train(executor, data, 3)
    loaded = poptorch.load(str(file))
    assert train(loaded, data, 3) == expected
    assert expected[0] != before[0]
    assert os.listdir(file.parent) == ["model.poptorch"]


def test_exportedOfflineRunsOnADevice(tmp_path):
    torch.manual_seed(1)
    x, _ = smallData(4)
    model = Small().eval()
    offline = options().useOfflineIpuTarget()
    executor = poptorch.inferenceModel(model, offline)
    file = str(tmp_path / "model.poptorch")
    executor.compileAndExport(file, x)
    seen = []

    def edit(opts):
        seen.append(opts.connection_type)

    loaded = poptorch.load(file, edit)
    torch.testing.assert_close(loaded(x), model(x))
    assert seen == [poptorch.ConnectionType.Always.value]


def test_executableAloneNeedsTheModel(tmp_path):
    torch.manual_seed(1)
    x, _ = smallData(4)
    model = Small().eval()
    executor = poptorch.inferenceModel(model, options())
    executor.compileAndExport(str(tmp_path), x, export_model=False)
    file = str(tmp_path / "model.poptorch")
    with pytest.raises(AssertionError, match="'export_model=False'"):
        poptorch.load(file)
    again = poptorch.inferenceModel(model, options())
    again.loadExecutable(file)
    torch.testing.assert_close(again(x), model(x))
    with pytest.raises(poptorch.Error, match="compiled already"):
        again.loadExecutable(file)
    other = Small().eval()
    other.a, other.b = torch.nn.Linear(4, 9), torch.nn.Linear(9, 3)
    with pytest.raises(poptorch.Error, match="compiled from another model"):
        poptorch.inferenceModel(other, options()).loadExecutable(file)
    with pytest.raises(AssertionError, match="Too many arguments"):
        poptorch.inferenceModel(torch.nn.Linear(4, 3), options()).loadExecutable(
            file
        )


def test_damagedFilesAreRefused(tmp_path):
    x, _ = smallData(4)
    executor = poptorch.inferenceModel(Small().eval(), options())
    file = tmp_path / "model.poptorch"
    executor.compileAndExport(str(file), x)
    whole = file.read_bytes()
    cases = {
        b"something else": "Invalid file .*: it has no executable",
        b"": "Invalid file .*: it has no executable",
        whole[:-7]: "does not contain Poptorch metadata",
        whole[:200]: "does not contain Poptorch metadata",
        whole[:60] + whole[-40:]: "Invalid file",
        whole.replace(poptorch.__version__.encode(), b"0.0.0-aspen"): (
            "version mismatch: File was created with version: 0.0.0-aspen"
        ),
    }
    for contents, message in cases.items():
        file.write_bytes(contents)
        with pytest.raises(poptorch.Error, match=message):
            poptorch.load(str(file))
    with pytest.raises(FileNotFoundError):
        poptorch.load(str(tmp_path / "absent"))


def test_modelsOfLocalClassesNeedExportModelFalse(tmp_path):
    class Local(torch.nn.Module):
        def forward(self, x):
            return x + 1

    executor = poptorch.inferenceModel(Local(), options())
    with pytest.raises(poptorch.Error, match="export_model=False"):
        executor.compileAndExport(str(tmp_path / "a"), torch.zeros(2))
    assert os.listdir(tmp_path) == []
    executor.save(str(tmp_path / "a"), export_model=False)
    assert os.listdir(tmp_path) == ["a"]


SCRIPT = """
import sys, time, torch, poptorch
sys.path.insert(0, {tests!r})
from models import Small, smallData
torch.manual_seed(1)
options = poptorch.Options().enableExecutableCaching({cache!r})
options.showCompilationProgressBar(False)
model = Small()
executor = poptorch.trainingModel(model, options, torch.optim.SGD(
    model.parameters(), lr=0.1))
print(executor(*smallData(4))[1].item())
"""


def test_secondProcessFindsTheExecutableInTheCache(tmp_path):
    cache = tmp_path / "cache"
    script = SCRIPT.format(
        tests=os.path.dirname(__file__), cache=str(cache)
    )
    run = lambda: subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True,
        check=True,
    ).stdout  # fmt: skip
    first = run()
    (entry,) = os.listdir(cache)
    assert entry.endswith(".popef")
    written = (cache / entry).stat().st_mtime_ns
    assert run() == first
    assert os.listdir(cache) == [entry]
    assert (cache / entry).stat().st_mtime_ns == written


def test_cacheDirectoryComesFromTheEnvironment(tmp_path, monkeypatch):
    monkeypatch.setenv("POPTORCH_CACHE_DIR", str(tmp_path))
    x, _ = smallData(4)
    opts = poptorch.Options().showCompilationProgressBar(False)
    poptorch.inferenceModel(Small().eval(), opts)(x)
    assert len(os.listdir(tmp_path)) == 1


def cachedRun(cache):
    """The loss of a step with an executable from the cache, if it has one."""
    torch.manual_seed(1)
    model = Small()
    opts = poptorch.Options().showCompilationProgressBar(False)
    executor = poptorch.trainingModel(
        model,
        opts.enableExecutableCaching(str(cache)),
        torch.optim.SGD(model.parameters(), lr=0.1),
    )
    loss = executor(*smallData(4))[1].item()
    executor.destroy()
    return loss


def changed(data, position):
    return data[:position] + bytes([data[position] ^ 64]) + data[position + 1 :]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: b"something else",
        lambda data: changed(data, 3),
        lambda data: changed(data, 30),
        lambda data: changed(data, len(data) // 2),
        lambda data: changed(data, len(data) - 20),
        lambda data: data[: len(data) // 3] + data[len(data) // 2 :],
    ],
)
def test_aDamagedFileInTheCacheIsCompiledAgain(tmp_path, capfd, damage):
    expected = cachedRun(tmp_path)
    (entry,) = tmp_path.iterdir()
    good = entry.read_bytes()
    entry.write_bytes(damage(good))
    assert cachedRun(tmp_path) == expected
    assert "so the model is compiled: " in capfd.readouterr().err
    assert entry.read_bytes() == good
    assert os.listdir(tmp_path) == [entry.name]
    cachedRun(tmp_path)
    assert "compiled" not in capfd.readouterr().err


def test_aCacheThatCannotBeWrittenIsWarnedOf(tmp_path, capfd):
    """A file in the folder's place, a folder in the file's, a full disk: what
    is compiled runs, and nothing is left behind."""
    file = tmp_path / "file"
    file.write_text("no folder")
    expected = cachedRun(tmp_path / "cache")
    assert capfd.readouterr().err == ""
    for path in (file, file / "folder"):
        assert cachedRun(path) == expected
        assert "does not go to the executable cache" in capfd.readouterr().err
    (entry,) = (tmp_path / "cache").iterdir()
    entry.unlink()
    entry.mkdir()
    assert cachedRun(tmp_path / "cache") == expected
    assert "does not go to the executable cache" in capfd.readouterr().err
    assert os.listdir(tmp_path / "cache") == [entry.name]
    entry.rmdir()
    limited = subprocess.run(
        ["bash", "-c", 'ulimit -f 4; trap "" XFSZ; exec "$0" "$@"',
         sys.executable, "-c", SCRIPT.format(
             tests=os.path.dirname(__file__), cache=str(tmp_path / "cache"))],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert float(limited.stdout) == pytest.approx(expected)
    assert "does not go to the executable cache" in limited.stderr
    assert os.listdir(tmp_path / "cache") == []


def test_unfinishedFilesOfKilledProcessesAreWrittenOver(tmp_path):
    expected = cachedRun(tmp_path)
    (entry,) = tmp_path.iterdir()
    good = entry.read_bytes()
    entry.unlink()
    (tmp_path / (entry.name + ".part")).write_bytes(b"half of it" * 10000)
    assert cachedRun(tmp_path) == expected
    assert os.listdir(tmp_path) == [entry.name]
    assert entry.read_bytes() == good


def test_processesShareTheCache(tmp_path):
    script = SCRIPT.format(
        tests=os.path.dirname(__file__), cache=str(tmp_path)
    )
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", script], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )
        for _ in range(4)
    ]  # fmt: skip
    results = [run.communicate() for run in runs]
    assert all(run.returncode == 0 for run in runs)
    assert len({output for output, _ in results}) == 1
    assert not any("cache" in messages for _, messages in results)
    assert len(os.listdir(tmp_path)) == 1
