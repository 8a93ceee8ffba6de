"""Models before a session has them: the Builder's errors and questions. ONNX's
own package reads the results."""
import numpy as np
import onnx
import popart
import pytest

error = popart.popart_exception


def parse(model: bytes) -> onnx.ModelProto:
    return onnx.load_from_string(model)


def test_machine_learning_operators_are_built_and_refused_by_sessions():
    builder = popart.Builder()
    x = builder.addInputTensor("FLOAT", [2])
    y = builder.aiOnnxMl.binarizer([x], threshold=0.5)
    assert builder.getFloatNodeAttribute("threshold", {y}) == 0.5
    assert builder.aiOnnxMlOpset1.version == 1
    opsets = {o.domain: o.version
              for o in parse(builder.getModelProto()).opset_import}
    assert opsets == {"ai.onnx.ml": 1}
    builder.aiOnnx.relu([x])
    with pytest.raises(error, match="No class for ai.onnx.ml.Binarizer"):
        popart.InferenceSession(builder.getModelProto(),
                                popart.DataFlow(1, [y]),
                                popart.DeviceManager().createCpuDevice())


@pytest.mark.parametrize("name", [
    "Gradient___x", "Accl___x", "Stashed___x", "lossScaling_FLOAT",
    "learningRate___default___FLOAT", "randomSeed___x", "Iterator___",
])  # fmt: skip
def test_reserved_names_are_refused(name):
    with pytest.raises(error, match="invalid name: clash with reserved "
                       "prefix"):
        popart.Builder().addInputTensor("FLOAT", [1], name)


def test_errors_while_building():
    builder = popart.Builder()
    with pytest.raises(error, match=r"Unknown tensor 'a' \(there are no valid "
                       r"tensors yet\)"):
        builder.aiOnnx.relu(["a"])
    x = builder.addInputTensor("FLOAT", [2], "x")
    with pytest.raises(error, match=r"Unknown tensor 'a' \(valid tensors are "
                       r"x\)"):
        builder.aiOnnx.relu(["a"])
    with pytest.raises(error, match="Add has invalid number of inputs 1. Must "
                       r"be between 2\.\.2"):
        builder.aiOnnx.add([x])
    with pytest.raises(error, match="Concat has invalid number of inputs 0. "
                       r"Must be between 1\.\.inf"):
        builder.aiOnnx.concat([], 0)
    with pytest.raises(error, match="for subgraphs"):
        builder.addUntypedInputTensor()
    with pytest.raises(error, match="for subgraphs"):
        builder.addInputTensorFromParentGraph(x)
    y = builder.aiOnnx.relu([x])
    with pytest.raises(error, match="Could not find a node with outputs z. "
                       "Must specify all outputs of a node"):
        builder.virtualGraph("z", 1)
    builder.virtualGraph(y, 1)
    with pytest.raises(error, match="Node already has attribute "
                       "__ipu_number."):
        builder.virtualGraph(y, 2)
    with pytest.raises(error, match="Unsupported mat mul serialization mode "
                       "'rows'"):
        builder.setSerializeMatMul({y}, "rows", 2)
    with pytest.raises(error, match="'float' and 'half'"):
        builder.setPartialsType(y, "double")
    with pytest.raises(error, match=r"must be in \(0,1\]"):
        builder.setAvailableMemoryProportion(y, 0.0)
    with pytest.raises(error, match="does not exist"):
        builder.removeNodeAttribute("colour", {y})
    with pytest.raises(error, match="does not have attribute colour"):
        builder.getInt64NodeAttribute("colour", {y})
    with pytest.raises(error, match="Invalid opset 11 used to add an "
                       "operation. Opset for domain ai.onnx already defined "
                       "as 10"):
        builder.customOp("Relu", 11, "ai.onnx", [x], {})


def test_attributes_of_nodes():
    builder = popart.Builder()
    x = builder.addInputTensor("FLOAT", [2, 2], "x")
    w = builder.addInitializedInputTensor(np.ones((2, 2), np.float32), "w")
    y = builder.aiOnnx.matmul([x, w])
    builder.setSerializeMatMul({y}, "reducing_dim", 2, True)
    builder.setInplacePreferences(y, {"AddLhsInplace": 3.0})
    builder.excludePatterns(y, ["PreUniRepl"])
    builder.setPartialsType(y, "half")
    builder.setEnableConvDithering(y, 1)
    builder.addNodeAttribute("list", [1, 2], {y})
    assert builder.getPartialsType(y) == "half"
    assert builder.getStringNodeAttribute(
        "__serialize_matmul_mode", {y}) == "reducing_dim"
    assert builder.getInt64NodeAttribute("__serialize_matmul_factor", {y}) == 2
    assert builder.getInt64NodeAttribute(
        "__serialize_matmul_precision", {y}) == 1
    assert builder.getStringVectorNodeAttribute(
        "__inplace_op_names", {y}) == ["AddLhsInplace"]
    assert builder.getFloatVectorNodeAttribute(
        "__inplace_op_priorities", {y}) == [3.0]
    assert builder.getInt64VectorNodeAttribute("list", {y}) == [1, 2]
    assert builder.getStringVectorNodeAttribute(
        "__exclude_patterns", {y}) == ["PreUniRepl"]
    builder.removeNodeAttribute("list", {y})
    assert not builder.nodeHasAttribute("list", {y})
    assert "__partials_type" in builder.getAllNodeAttributeNames({y})


def test_questions_about_a_model():
    builder = popart.Builder()
    x = builder.addInputTensor("FLOAT16", [2, 2], "x")
    w = builder.addInitializedInputTensor(np.ones((2, 2), np.float16), "w")
    with builder.nameScope("a"), builder.nameScope("b"):
        assert builder.getNameScope("c") == "a/b/c"
        y = builder.aiOnnx.matmul([x, w])
    builder.addOutputTensor(y)
    builder.setGraphName("questions")
    assert builder.getInputTensorIds() == [x, w]
    assert builder.getOutputTensorIds() == [y] == ["a/b/MatMul:0"]
    assert y in builder.getValueTensorIds()
    assert builder.getTrainableTensorIds() == [w]
    assert builder.getTensorShape(y) == [2, 2]
    assert builder.getTensorDtypeString(y) == "float16"
    assert builder.isInitializer(w) and not builder.isInitializer(x)
    assert builder.hasTensorShape(y)
    assert parse(builder.getModelProto()).graph.name == "questions"
    # A model that is loaded keeps its opset, whatever the builder's is.
    loaded = popart.Builder(builder.getModelProto())
    assert loaded.aiOnnx.version == 10
    assert loaded.getTensorShape(y) == [2, 2]


def test_constants_may_be_in_scopes():
    builder = popart.Builder()
    x = builder.addInputTensor("FLOAT", [2])
    with builder.virtualGraph(0), builder.pipelineStage(0):
        two = builder.aiOnnx.constant(np.array([2], np.float32))
        y = builder.aiOnnx.mul([x, two])
    session = popart.InferenceSession(
        builder.getModelProto(), popart.DataFlow(1, [y]),
        popart.DeviceManager().createCpuDevice())
    session.prepareDevice()
    anchors = session.initAnchorArrays()
    session.run(popart.PyStepIO({x: np.array([1, 3], np.float32)}, anchors))
    np.testing.assert_array_equal(anchors[y], [2, 6])


def test_input_settings_are_in_the_model():
    builder = popart.Builder()
    builder.addInputTensor(
        "FLOAT", [2], popart.InputSettings(
            popart.TileSet.IO, popart.ExchangeStrategy.OverlapInnerLoop), "x")
    builder.addInputTensor(
        popart.TensorInfo("FLOAT", [2]),
        popart.InputSettings(popart.ReplicatedStreamMode.Broadcast), "y")
    found = {p.key: p.value
             for p in parse(builder.getModelProto()).metadata_props}
    assert found["__tile_set/x"] == "1"
    assert found["__exchange_strategy/x"] == "1"
    assert found["__replicated_stream_mode/y"] == "1"


def test_definitions_of_operators():
    definitions = popart.getSupportedOperationsDefinition(False)
    add = definitions[popart.OperatorIdentifier("ai.onnx", "Add", 7)]
    assert [operand.name for operand in add.inputs] == ["A", "B"]
    assert popart.DataType.FLOAT in add.inputs[0].supportedTensors
    conv = definitions[popart.OperatorIdentifier("ai.onnx", "Conv", 1)]
    assert "strides" in {a.name for a in conv.attributes}
    assert conv.attributes[0].supportedValuesRegex == ".*"


def test_enumerations():
    assert int(popart.ScatterReduction.NoReduction) == 4
    assert int(popart.InitType.Zero) == 1
    assert int(popart.TensorRemapType.Fwd) == 2
    assert int(popart.RecoveryAction.FULL_RESET) == 3
    from popart._internal import ir
    assert int(ir.CollectiveOperator.Local) == 8
