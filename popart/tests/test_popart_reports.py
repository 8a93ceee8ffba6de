"""What sessions tell: cycles, summaries, the IR, progress and the log."""
import json
import os
import subprocess
import sys

import numpy as np
import popart
import pytest
from small_sessions import cpu, error, inference, ipus, run


def test_cycles_are_counted():
    options = popart.SessionOptions()
    session, *_ = inference(options)
    with pytest.raises(error, match="'instrumentWithHardwareCycleCounter' "
                       "must be set to true"):
        session.getCycleCount()
    options.instrumentWithHardwareCycleCounter = True
    options.hardwareInstrumentations = {popart.Instrumentation.Outer,
                                        popart.Instrumentation.Inner}
    session, *_ = inference(options, ipus(), steps=4)
    with pytest.raises(error, match="Must call run before getCycleCount"):
        session.getCycleCount()
    run(session, np.ones((4, 2)))
    cycles = session.getCycleCount()
    assert session.getCycleCount("inner_ipu_0") == cycles // 4
    with pytest.raises(error, match="Invalid id for cycle counter, 'outer'"):
        session.getCycleCount("outer")
    run(session, np.ones((4, 2)))
    assert session.getCycleCount() == cycles
    summary = session.getSummaryReport()
    assert f"Total cycles: {cycles:,}" in " ".join(summary.split())


def test_summaries_start_again():
    session, *_ = inference(device=ipus())
    run(session, [1, 1])
    first = session.getSummaryReport(False)
    assert session.getSummaryReport() == first
    assert "inference" in first
    assert "Total cycles: 0" in " ".join(session.getSummaryReport().split())
    with pytest.raises(error, match="use getSummaryReport"):
        session.getReport()
    assert len(session.getSerializedGraph()) > 100


def test_cached_programs_have_reports_too(tmp_path):
    options = popart.SessionOptions()
    options.enableEngineCaching = True
    options.cachePath = str(tmp_path)
    summaries = []
    for _ in range(2):
        session, *_ = inference(options, ipus())
        run(session, [1, 1])
        summaries.append(session.getSummaryReport())
    assert len(list(tmp_path.iterdir())) == 1
    assert summaries[0] == summaries[1]
    (file,) = tmp_path.iterdir()
    file.unlink()
    session.updateEngineCache()
    assert file.exists()


def test_out_of_memory_with_a_report():
    options = popart.SessionOptions()
    options.engineOptions["debug.allowOutOfMemory"] = "true"
    builder = popart.Builder()
    x = builder.addInputTensor("FLOAT", [1 << 20])
    y = builder.aiOnnx.relu([x])
    session = popart.InferenceSession(
        builder.getModelProto(), popart.DataFlow(1, [y]),
        popart.DeviceManager().acquireAvailableDevice(1, tilesPerIpu=2),
        userOptions=options)
    with pytest.raises(popart.OutOfMemoryException) as caught:
        session.prepareDevice()
    assert "Memory Usage" in caught.value.getSummaryReport()
    with pytest.raises(error, match="use getSummaryReport"):
        caught.value.getProfilePath()


def test_the_ir_as_json():
    session, x, w, y = inference()
    text = session._serializeIr(popart.IrSerializationFormat.JSON)
    assert '"type":"Mul"' in text and " " not in text.replace("[2]", "")
    (op,) = json.loads(text)["maingraph"]
    assert op["type"] == "Mul"
    assert [t["name"] for t in op["inputs"]] == [x, w]
    assert op["outputs"] == [{"name": y, "shape": "[2]", "type": "FLOAT",
                              "index": "0"}]
    assert op["attributes"]["recompute"] == "NO"
    assert op["attributes"]["__ipu_number"] == "none"
    session.checkInplacingAmbiguity()


def test_sessions_from_an_ir():
    ir = inference()[0].getIr()
    session = popart.InferenceSession.fromIr(ir, cpu())
    session.prepareDevice()
    np.testing.assert_array_equal(run(session, [1, 1])["Mul:0"], [5, 6])
    assert session.dataFlow.batchesPerStep() == 1


def test_compilation_reports_its_progress():
    calls = []
    options = popart.SessionOptions()
    options.compilationProgressTotal = 300
    options.compilationProgressLogger = lambda done, total: calls.append(
        (done, total))
    inference(options)
    assert calls[0] == (0, 300) and calls[-1] == (300, 300)
    assert calls == sorted(calls)


def test_the_log_shows_what_sessions_do(tmp_path):
    file = tmp_path / "log.txt"
    levels = tmp_path / "levels.json"
    levels.write_text('{"session": "INFO", "all": "OFF"}')
    script = tmp_path / "program.py"
    script.write_text(
        "import numpy as np, popart\n"
        "b = popart.Builder()\n"
        "y = b.aiOnnx.relu([b.addInputTensor('FLOAT', [1])])\n"
        "s = popart.InferenceSession(b.getModelProto(), popart.DataFlow(1,\n"
        "    [y]), popart.DeviceManager().createCpuDevice())\n"
        "s.prepareDevice()\n"
        "s.setRandomSeed(1)\n")
    subprocess.run(
        [sys.executable, str(script)], check=True,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path),
             "POPART_LOG_CONFIG": str(levels), "POPART_LOG_DEST": str(file),
             "POPART_LOG_FORMAT": "%n %L %v"})
    assert file.read_text().splitlines() == [
        "popart:session I compiling inference",
        "popart:session W setRandomSeed changes nothing: the model has no "
        "random numbers"]


def test_debug_information_is_recorded(tmp_path):
    file = tmp_path / "debug.json"
    popart.initializePoplarDebugInfo(str(file))
    inference()
    popart.closePoplarDebugInfo()
    assert isinstance(json.loads(file.read_text()), list)
    with pytest.raises(error, match="there are json and cbor"):
        popart.initializePoplarDebugInfo(str(file), "xml")
