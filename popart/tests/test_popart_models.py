"""Models before a session has them: the Builder's errors and questions, changes
to whole models, groups of replicas. ONNX's own package reads the results."""
import numpy as np
import onnx
import popart
import pytest
from onnx import TensorProto, helper, numpy_helper

error = popart.popart_exception


def parse(model: bytes) -> onnx.ModelProto:
    return onnx.load_from_string(model)


def one_node(op, inputs, constant, **attributes):
    """A model with the node's inputs and an initialiser "w"."""
    node = helper.make_node(op, ["x", "w"], ["y"], name="node", **attributes)
    graph = helper.make_graph(
        [node], "g", inputs,
        [floats("y", ["n"])],
        [numpy_helper.from_array(constant, "w")])
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 10)], ir_version=4
    ).SerializeToString()


def floats(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def transformed(model, method, *arguments) -> onnx.ModelProto:
    transformer = popart.GraphTransformer(model)
    getattr(transformer, method)(*arguments)
    return parse(transformer.getModelProto())


def test_floats_become_halves_everywhere():
    builder = popart.Builder()
    x = builder.addInputTensor("FLOAT", [2, 2])
    w = builder.addInitializedInputTensor(
        np.array([[1.5, 0], [65504, 1e-9]], np.float32))
    ops = builder.aiOnnx
    constant = ops.constant(np.array([2.5], np.float32))
    y = ops.mul([ops.cast([ops.matmul([x, w])], "FLOAT"), constant])
    builder.addOutputTensor(y)
    model = transformed(builder.getModelProto(), "convertFloatsToHalfs")
    graph = model.graph
    assert {v.type.tensor_type.elem_type for v in
            [*graph.input, *graph.output, *graph.value_info]} == {
                TensorProto.FLOAT16}
    np.testing.assert_array_equal(
        numpy_helper.to_array(graph.initializer[0]),
        np.array([[1.5, 0], [65504, 0]], np.float16))
    nodes = {node.op_type: node for node in graph.node}
    assert nodes["Cast"].attribute[0].i == TensorProto.FLOAT16
    assert numpy_helper.to_array(nodes["Constant"].attribute[0].t) == 2.5
    session = popart.InferenceSession(
        model.SerializeToString(), popart.DataFlow(1, [y]),
        popart.DeviceManager().createCpuDevice())
    session.prepareDevice()
    anchors = session.initAnchorArrays()
    session.run(popart.PyStepIO(
        {x: np.array([[2, 0], [4, 0]], np.float16)}, anchors))
    np.testing.assert_array_equal(anchors[y],
                                  np.array([[7.5, 0], [15, 0]], np.float16))


@pytest.mark.parametrize("method, given, wanted", [
    ("convertUINT8ToINT32", np.uint8, np.int32),
    ("convertUINT16ToINT32", np.uint16, np.int32),
    ("convertINT8ToINT32", np.int8, np.int32),
    ("convertINT16ToINT32", np.int16, np.int32),
    ("convertINT64ToINT32", np.int64, np.int32),
    ("convertDoublesToFloats", np.float64, np.float32),
    ("convertDoublesToHalfs", np.float64, np.float16),
])  # fmt: skip
def test_other_types_are_converted(method, given, wanted):
    values = np.array([[1, 2], [100, 127]], given)
    number = helper.np_dtype_to_tensor_dtype if hasattr(
        helper, "np_dtype_to_tensor_dtype") else (
            lambda t: onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[t])
    model = one_node("Add", [helper.make_tensor_value_info(
        "x", number(np.dtype(given)), [2, 2])], values)
    graph = transformed(model, method).graph
    found = numpy_helper.to_array(graph.initializer[0])
    assert found.dtype == wanted
    np.testing.assert_array_equal(found, values.astype(wanted))
    assert graph.input[0].type.tensor_type.elem_type == number(
        np.dtype(wanted))


def test_bfloat16_is_the_upper_half_of_a_float():
    tensor = TensorProto(name="w", data_type=TensorProto.BFLOAT16, dims=[2])
    tensor.raw_data = np.array([1.5, -2], np.float32).view(
        np.uint16)[1::2].tobytes()
    model = parse(one_node("Add", [floats("x", [2])], np.zeros(2, np.float32)))
    model.graph.initializer[0].CopyFrom(tensor)
    graph = transformed(model.SerializeToString(),
                        "convertBFloats16ToFloat32").graph
    np.testing.assert_array_equal(
        numpy_helper.to_array(graph.initializer[0]), [1.5, -2])


def test_wide_integers_are_clipped_if_wanted():
    model = one_node("Add", [helper.make_tensor_value_info(
        "x", TensorProto.INT64, [2])], np.array([2**40, -2**40]))
    graph = transformed(model, "convertINT64ToINT32", True).graph
    np.testing.assert_array_equal(
        numpy_helper.to_array(graph.initializer[0]), [2**31 - 1, -2**31])
    with pytest.raises(error, match="does not fit INT32"):
        transformed(model, "convertINT64ToINT32")


def test_unused_inputs_are_removed():
    model = one_node("Add", [floats("x", [2]), floats("unused", [3])],
                     np.ones(2, np.float32))
    assert [i.name for i in transformed(
        model, "removeUnusedInputs").graph.input] == ["x"]


def test_nodes_are_prepared_for_training():
    node = helper.make_node("BatchNormalization",
                            ["x", "s", "b", "m", "v"], ["y"])
    names = "sbmv"
    graph = helper.make_graph(
        [node], "g", [floats("x", [2, 3, 4, 4])],
        [floats("y", ["n"])],
        [numpy_helper.from_array(np.ones(3, np.float32), n) for n in names])
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 9)], ir_version=4)
    done = transformed(model.SerializeToString(), "prepareNodesForTraining")
    assert len(set(done.graph.node[0].output)) == 5
    onnx.checker.check_model(done)


def test_initialisers_become_constants():
    model = one_node("Add", [floats("x", [2])], np.array([1, 2], np.float32))
    done = transformed(model, "convertInitializersToConstants", ["w"])
    assert not done.graph.initializer
    assert [n.op_type for n in done.graph.node] == ["Constant", "Add"]
    onnx.checker.check_model(done)
    with pytest.raises(error, match="'x' is not an initialiser"):
        transformed(model, "convertInitializersToConstants", ["x"])
    # The float stays, the integer goes.
    integer = one_node("Reshape", [floats("x", [2])], np.array([2, 1]))
    method = "convertAllFixedPointInitializersToConstants"
    assert transformed(model, method).graph.initializer
    assert not transformed(integer, method).graph.initializer


def test_initialisers_go_to_a_file(tmp_path):
    model = one_node("Add", [floats("x", [2])], np.array([1, 2], np.float32))
    file = tmp_path / "weights.bin"
    done = transformed(model, "saveInitializersExternally", ["w"], str(file))
    np.testing.assert_array_equal(np.fromfile(file, np.float32), [1, 2])
    where = {e.key: e.value for e in done.graph.initializer[0].external_data}
    assert where == {"location": str(file), "offset": "0", "length": "8"}


def test_numerics_report():
    def model(*values):
        return one_node("Add", [floats("x", [2])],
                        np.array(values, np.float32))

    # Steps of 5 and 10, and a gap of 5: 25 / (5 * 10).
    report = popart.NumericsReport(model(0, 0), model(3, 4), model(0, 0),
                                   model(6, 8))
    assert report.getRelativeErrors() == {"w": 0.5}
    assert "relative error 0.5" in report.report("w")
    assert report.fullReport() == report.report("w") + "\n"
    with pytest.raises(error, match="no weight 'v'"):
        report.report("v")
    with pytest.raises(error, match="model 1 has no weight 'w'"):
        popart.NumericsReport(model(0, 0), model(0, 0, 0), model(0, 0),
                              model(0, 0))


@pytest.mark.parametrize("kind, size, groups", [
    ("All", 0, [[0, 1, 2, 3, 4, 5, 6, 7]]),
    ("Consecutive", 4, [[0, 1, 2, 3], [4, 5, 6, 7]]),
    ("Orthogonal", 4, [[0, 2, 4, 6], [1, 3, 5, 7]]),
    ("None", 0, [[0], [1], [2], [3], [4], [5], [6], [7]]),
])  # fmt: skip
def test_groups_of_replicas(kind, size, groups):
    group = popart.CommGroup(getattr(popart.CommGroupType, kind), size)
    mode = popart.VariableRetrievalMode.AllReplicas
    settings = popart.VariableSettings(group, mode)
    assert settings.groups(8) == groups
    assert settings.getGroupCount(8) == len(groups)
    assert settings.getRealGroupSize(8) == len(groups[0])
    assert settings.isUsingCommGroup()
    assert settings.getCommGroupType() == group.type
    assert settings.getSharedVariableDomain() == group
    assert settings.getRetrievalMode() == mode
    assert settings.numReplicasReturningVariable(8) == 8
    assert popart.VariableSettings(group).numReplicasReturningVariable(
        8) == len(groups)
    assert [settings.getGroupRepresentative(i)
            for i in range(len(groups))] == [g[0] for g in groups]
    full = [len(groups), 3] if len(groups) > 1 else [3]
    assert settings.shapeOnReplica(full, 8, "w") == [3]
    assert settings.shapeOnHost([3], 8) == full
    grouping = settings.getReplicaGrouping(8)
    assert [grouping.getReplicasAt(i) for i in range(len(groups))] == groups
    for replica in range(8):
        i = grouping.getGroupIndexOfReplica(replica)
        j = grouping.getIndexInGroupOfReplica(replica)
        assert groups[i][j] == replica == grouping.getReplicaAt(i, j)


def test_groups_by_stride():
    settings = popart.VariableSettings(
        2, 2, popart.VariableRetrievalMode.OnePerGroup)
    assert not settings.isUsingCommGroup()
    assert (settings.getStride(), settings.getGroupSize()) == (2, 2)
    assert settings.groups(8) == [[0, 2], [1, 3], [4, 6], [5, 7]]
    assert [settings.getGroupRepresentative(i) for i in range(4)] == [
        0, 1, 4, 5]
    with pytest.raises(error, match="6 replicas cannot be in groups of 2 "
                       "with stride 2"):
        settings.groups(6)
    with pytest.raises(error, match="has no CommGroup"):
        settings.getSharedVariableDomain()
    with pytest.raises(error, match="must be at least 1"):
        popart.VariableSettings(0, 2,
                                popart.VariableRetrievalMode.OnePerGroup)
    with pytest.raises(error, match="at least 1 replica, not 0"):
        popart.VariableSettings(
            popart.CommGroup(popart.CommGroupType.Consecutive, 0))
    assert popart.ReplicaGrouping(8, 1, 2).getTranspose() == (
        popart.ReplicaGrouping(8, 2, 4))


def test_grouped_weights_in_the_builder():
    settings = popart.VariableSettings(
        popart.CommGroup(popart.CommGroupType.Consecutive, 2))
    builder = popart.Builder()
    with pytest.raises(error, match="embedReplicationFactor first"):
        builder.addInitializedInputTensor(np.zeros((2, 3), np.float32),
                                          settings)
    builder.embedReplicationFactor(4)
    w = builder.addInitializedInputTensor(np.zeros((2, 3), np.float32),
                                          settings, "w")
    assert builder.getTensorShape(w) == [3]
    with pytest.raises(error, match=r"first dimension must be the number of "
                       r"groups of replicas, 2"):
        builder.addInitializedInputTensor(np.zeros((3, 3), np.float32),
                                          settings)
    builder.aiOnnx.relu([w])
    again = popart.Builder(builder.getModelProto())
    assert again.getTensorShape("w") == [3]


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
    with pytest.raises(error, match="'float' or 'half'"):
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
