"""The operations that are timed, each described once for all sides.

A case is a kind of docs/kinds.md with its attributes ("expression" in place of
those of an element-wise one) and inputs. An input has a shape and values between
"low" and "high" that follow from its elements' indices, of "type" float, half or
int; a "transposed" one has its matrices stored the other way round, as its shape
says. An input {"output": i} is what the operation "before" made, which is not
timed. "outputs" are compared between sides; "image" says that the first one is
[N, C, H, W]. An operation that "follows" a convolution may have its first input in
the order that one gives it.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    group: str
    name: str
    description: dict


def tensor(*shape: int, **more) -> dict:
    return dict(shape=list(shape), **more)


def number(value: float) -> dict:
    return tensor(low=value, high=value)


def operation(kind: str, inputs: list, attributes: dict | None = None,
              outputs=(0,), **more) -> dict:
    return dict(kind=kind, attributes=attributes or {}, inputs=inputs,
                outputs=list(outputs), **more)


def matmul(a: dict, b: dict) -> dict:
    return operation("matmul", [a, b], dict(bias=0, activation=""))


def squares() -> list[Case]:
    return [Case("matmul", f"{n} x {n} x {n}",
                 matmul(tensor(n, n), tensor(n, n)))
            for n in (64, 128, 256, 512, 1024, 2048)]


def transposed(*shape: int) -> dict:
    return tensor(*shape, transposed=True)


def skewed() -> list[Case]:
    """Batches of one, vectors, few columns or little depth."""
    operands = {
        "1 x 1024 x 1024": (tensor(1, 1024), tensor(1024, 1024)),
        "1 x 1024 x 1024 b transposed": (tensor(1, 1024),
                                         transposed(1024, 1024)),
        "1 x 512 x 10": (tensor(1, 512), tensor(512, 10)),
        "4 x 768 x 768 b transposed": (tensor(4, 768), transposed(768, 768)),
        "1024 x 1024 x 1": (tensor(1024, 1024), tensor(1024, 1)),
        "1024 x 1024 x 1 a transposed": (transposed(1024, 1024),
                                         tensor(1024, 1)),
        "256 x 1 x 256": (tensor(256, 1), tensor(1, 256)),
        "1024 x 1 x 1024": (tensor(1024, 1), tensor(1, 1024)),
        "256 x 256 x 256 a transposed": (transposed(256, 256),
                                         tensor(256, 256)),
        "256 x 256 x 256 b transposed": (tensor(256, 256),
                                         transposed(256, 256)),
        "256 x 256 x 256 both transposed": (transposed(256, 256),
                                            transposed(256, 256)),
        "2000 x 64 x 5": (tensor(2000, 64), tensor(64, 5)),
        "2000 x 5 x 64": (tensor(2000, 5), tensor(5, 64)),
    }
    return [Case("matmul, skewed", name, matmul(a, b))
            for name, (a, b) in operands.items()]


def attention() -> list[Case]:
    """A matrix for each head of each sample. The gradients of the scores have
    the shapes of the other products."""
    cases = []
    for heads, length, width in ((64, 128, 64), (24, 384, 64), (96, 16, 32)):
        features = tensor(heads, length, width)
        name = f"{heads} x {length} x {width}"
        cases += [
            Case("matmul, grouped", f"{name} scores",
                 matmul(features, transposed(heads, length, width))),
            Case("matmul, grouped", f"{name} values",
                 matmul(tensor(heads, length, length), features)),
            Case("matmul, grouped", f"{name} values gradient",
                 matmul(transposed(heads, length, length), features)),
        ]
    return cases


# Network: batch, and the sizes of its fully connected layers.
DENSE = {
    "mlp": (32, [784, 256, 128, 10]),
    "fashion": (16, [972, 100, 10]),
    "pipelined": (40, [320, 256, 10]),
    "cifar10": (64, [1152, 512, 10]),
    "keras-mnist": (64, [1600, 10]),
}


def dense_layers() -> list[Case]:
    cases = []
    for network, (batch, sizes) in DENSE.items():
        for k, n in zip(sizes, sizes[1:]):
            name = f"{network} {batch} x {k} x {n}"
            cases += [
                Case("dense", f"{name} forward",
                     matmul(tensor(batch, k), tensor(k, n))),
                Case("dense", f"{name} data gradient",
                     matmul(tensor(batch, n), transposed(k, n))),
                Case("dense", f"{name} weight gradient",
                     matmul(transposed(batch, k), tensor(batch, n))),
            ]
    return cases


@dataclass(frozen=True)
class Layer:
    """A convolution of square images."""

    batch: int
    channels: int
    size: int
    out: int
    kernel: int
    stride: int = 1
    padding: int = 0
    is_first: bool = False  # nothing wants the gradient of its input

    @property
    def out_size(self) -> int:
        return (self.size + 2 * self.padding - self.kernel) // self.stride + 1

    def __str__(self) -> str:
        stride = f" s{self.stride}" if self.stride > 1 else ""
        return (f"{self.batch}x{self.channels}x{self.size} -> {self.out} "
                f"k{self.kernel}{stride}")


EXAMPLES = {
    "fashion": [Layer(16, 1, 28, 5, 3, is_first=True), Layer(16, 5, 13, 12, 5)],
    "pipelined": [Layer(40, 1, 28, 10, 5, is_first=True),
                  Layer(40, 10, 12, 20, 5)],
    "cifar10": [Layer(64, 3, 32, 32, 3, padding=1, is_first=True),
                Layer(64, 32, 32, 32, 3), Layer(64, 32, 15, 64, 3, padding=1),
                Layer(64, 64, 15, 32, 3)],
    "keras-mnist": [Layer(64, 1, 28, 32, 3, is_first=True),
                    Layer(64, 32, 13, 64, 3)],
}


def resnet50(batch: int) -> list[Layer]:
    """Each of its convolutions once."""
    layers = [Layer(batch, 3, 224, 64, 7, 2, 3, is_first=True)]
    channels, size = 64, 56
    for stage, width in enumerate((64, 128, 256, 512)):
        stride = 2 if stage else 1
        layers += [Layer(batch, channels, size, width, 1),
                   Layer(batch, width, size, width, 3, stride, 1),
                   Layer(batch, channels, size, 4 * width, 1, stride)]
        channels, size = 4 * width, size // stride
        layers += [Layer(batch, width, size, channels, 1),
                   Layer(batch, channels, size, width, 1),
                   Layer(batch, width, size, width, 3, 1, 1)]
    return list(dict.fromkeys(layers))


def convolution_passes(group: str, network: str, layer: Layer) -> list[Case]:
    attributes = dict(strides=[layer.stride] * 2, padLower=[layer.padding] * 2,
                      padUpper=[layer.padding] * 2, dilations=[1, 1], groups=1)
    x = tensor(layer.batch, layer.channels, layer.size, layer.size)
    w = tensor(layer.out, layer.channels, layer.kernel, layer.kernel)
    y = tensor(layer.batch, layer.out, layer.out_size, layer.out_size)
    name = f"{network} {layer}"
    cases = [Case(group, f"{name} forward", operation(
        "convolution", [x, w], dict(attributes, bias=0, activation=""),
        image=True))]
    if not layer.is_first:
        cases.append(Case(group, f"{name} data gradient", operation(
            "convolutionDataGrad", [y, w],
            dict(attributes, inputShape=x["shape"]), image=True)))
    cases.append(Case(group, f"{name} weight gradient", operation(
        "convolutionWeightGrad", [y, x],
        dict(attributes, kernelShape=[layer.kernel] * 2))))
    return cases


def convolutions() -> list[Case]:
    cases = []
    for network, layers in EXAMPLES.items():
        for layer in layers:
            group = ("convolution, few channels"
                     if min(layer.channels, layer.out) < 16 else "convolution")
            cases += convolution_passes(group, network, layer)
    for layer in resnet50(4):
        group = ("convolution, few channels" if layer.channels < 16
                 else "convolution")
        cases += convolution_passes(group, "resnet50", layer)
    return cases


def single_images() -> list[Case]:
    """One layer of each size, for inference on one image."""
    layers = [Layer(1, 3, 224, 64, 7, 2, 3), Layer(1, 64, 56, 64, 3, 1, 1),
              Layer(1, 64, 56, 256, 1), Layer(1, 128, 28, 128, 3, 1, 1),
              Layer(1, 256, 28, 256, 3, 2, 1), Layer(1, 1024, 14, 256, 1),
              Layer(1, 512, 7, 512, 3, 1, 1), Layer(1, 512, 7, 2048, 1)]
    return [convolution_passes("convolution, one image", "resnet50", layer)[0]
            for layer in layers]


# The tanh form of GELU as networks spell it, and a scaled sum.
GELU_CHAIN = "0.5*a*(1+tanh(0.7978845608*(a+0.044715*a*a*a)))"
SCALED_SUM = "0.5*a+b"


def elementwise_pair(name: str, expression: str, a: dict, b: dict) -> Case:
    return Case("element-wise", name,
                operation("elementwise", [a, b], expression=expression))


def views_and_types() -> list[Case]:
    """Operands that repeat, types other than float, expressions that fuse."""
    cases = []
    for rows, columns in ((16, 1024), (1024, 1024)):
        a = tensor(rows, columns)
        size = f"{rows} x {columns}"
        half = dict(a, type="half")
        whole = dict(a, type="int", low=-1000.0, high=1000.0)
        cases += [
            elementwise_pair(f"a+column {size}", "a+b", a, tensor(rows, 1)),
            elementwise_pair(f"{SCALED_SUM} {size}", SCALED_SUM, a, a),
            elementwise_pair(f"half a+b {size}", "a+b", half, half),
            elementwise_pair(f"int a+b {size}", "a+b", whole, whole),
            Case("element-wise", f"GELU chain {size}", operation(
                "elementwise", [a], expression=GELU_CHAIN)),
        ]
    images = tensor(64, 32, 26, 26)
    cases.append(elementwise_pair("a+channel 64 x 32 x 26 x 26", "a+b", images,
                                  tensor(32, 1, 1)))
    return cases


def elementwise() -> list[Case]:
    cases = []
    for rows, columns in ((16, 1024), (1024, 1024)):
        a = tensor(rows, columns)
        size = f"{rows} x {columns}"
        for expression in ("relu(a)", "exp(a)", "tanh(a)", "sigmoid(a)",
                           "gelu_erf(a)"):
            cases.append(Case("element-wise", f"{expression} {size}", operation(
                "elementwise", [a], expression=expression)))
        for expression in ("a+b", "a*b"):
            cases.append(Case("element-wise", f"{expression} {size}", operation(
                "elementwise", [a, a], expression=expression)))
        cases.append(Case("element-wise", f"a+row {size}", operation(
            "elementwise", [a, tensor(columns)], expression="a+b")))
    return cases + views_and_types()


def softmaxes() -> list[Case]:
    cases = []
    for rows, columns in ((32, 10), (64, 1000), (1024, 1024)):
        x = tensor(rows, columns)
        for kind in ("softmax", "logSoftmax"):
            cases += [
                Case("softmax", f"{kind} {rows} x {columns}",
                     operation(kind, [x])),
                Case("softmax", f"{kind} gradient {rows} x {columns}",
                     operation(f"{kind}Grad", [x, dict(output=0)],
                               before=operation(kind, [x]))),
            ]
    return cases


def reductions() -> list[Case]:
    return [Case("reduction", f"{op.lower()} over {dims} of {shape}", operation(
                "reduce", [tensor(*shape)], dict(op=op, dims=dims, scale=1.0)))
            for shape, dims in (([64, 1000], [1]), ([64, 1000], [0]),
                                ([1024, 1024], [1]), ([1024, 1024], [0]),
                                ([1024, 1024], [0, 1]),
                                ([16, 12, 9, 9], [0, 2, 3]),
                                ([64, 32, 26, 26], [0, 2, 3]))
            for op in ("ADD", "MAX")] + [
        Case("reduction", "half add over [1] of [1024, 1024]", operation(
            "reduce", [tensor(1024, 1024, type="half", low=0.0, high=0.01)],
            dict(op="ADD", dims=[1], scale=1.0)))]


def norm_passes(name: str, kind: str, shape: list, attributes: dict,
                gradient_attributes: dict) -> list[Case]:
    x, c = tensor(*shape), tensor(shape[1])
    is_image = len(shape) == 4
    forward = operation(kind, [x, c, c], attributes, image=is_image)
    return [
        Case("norm", f"{name} of {shape}", forward),
        Case("norm", f"{name} gradient of {shape}", operation(
            f"{kind}Grad", [x, x, c, dict(output=1), dict(output=2)],
            gradient_attributes, outputs=(0, 1, 2), image=is_image,
            before=forward)),
    ]


def norms() -> list[Case]:
    cases = []
    for name, shape, groups in (("group norm", [16, 12, 9, 9], 3),
                                ("group norm", [16, 64, 28, 28], 8),
                                ("layer norm", [512, 768], 1)):
        cases += norm_passes(name, "groupNorm", shape,
                             dict(groups=groups, epsilon=1e-5),
                             dict(groups=groups))
    for shape in ([16, 64, 28, 28], [4, 256, 56, 56], [4, 2048, 7, 7]):
        cases += norm_passes("batch norm", "batchNorm", shape,
                             dict(epsilon=1e-5), {})
    return cases


def max_pools() -> list[Case]:
    cases = []
    for network, batch, channels, size, kernel, stride, padding in (
            ("fashion", 16, 5, 26, 2, 2, 0), ("pipelined", 40, 10, 24, 2, 2, 0),
            ("cifar10", 64, 32, 30, 2, 2, 0),
            ("keras-mnist", 64, 32, 26, 2, 2, 0),
            ("resnet50", 4, 64, 112, 3, 2, 1)):
        attributes = dict(kernel=[kernel] * 2, strides=[stride] * 2,
                          padLower=[padding] * 2, padUpper=[padding] * 2,
                          activation="")
        x = tensor(batch, channels, size, size)
        pooled = (size + 2 * padding - kernel) // stride + 1
        # oneDNN's pooling has its images in blocks of sixteen channels.
        forward = operation("maxPool", [x], attributes, image=True,
                            follows=x["shape"][1] >= 16)
        name = f"{network} max {batch}x{channels}x{size} k{kernel}"
        cases += [
            Case("pooling", name, forward),
            Case("pooling", f"{name} gradient", operation(
                "maxPoolGrad",
                [tensor(batch, channels, pooled, pooled), dict(output=1)],
                dict(attributes, inputShape=x["shape"]), image=True,
                before=forward)),
        ]
    return cases


def mean_pools() -> list[Case]:
    attributes = dict(poolingType="AVG", kernel=[7, 7], strides=[7, 7],
                      padLower=[0, 0], padUpper=[0, 0])
    x, y = tensor(16, 2048, 7, 7), tensor(16, 2048, 1, 1)
    return [
        Case("pooling", "resnet50 mean 16x2048x7 k7",
             operation("pool", [x], attributes, image=True)),
        Case("pooling", "resnet50 mean 16x2048x7 k7 gradient", operation(
            "poolGrad", [y], dict(attributes, inputShape=x["shape"], scaled=0),
            image=True)),
    ]


def updates() -> list[Case]:
    cases = []
    # The parameters of the MLP, and many.
    for count in (235146, 4194304):
        w = tensor(count)
        square = tensor(count, low=0.0, high=1.0)
        cases += [
            Case("update", f"SGD {count}", operation(
                "sgdUpdate", [w, w, number(0.01), number(0)],
                dict(momentum=0, nesterov=0, gradientScale=1.0))),
            Case("update", f"SGD with momentum {count}", operation(
                "sgdUpdate", [w, w, number(0.01), number(0), w, number(0.9),
                              number(0)],
                dict(momentum=1, nesterov=0, gradientScale=1.0),
                outputs=(0, 1))),
            Case("update", f"AdamW {count}", operation(
                "adamUpdate",
                [w, w, w, square, number(3), number(0.001), number(0.9),
                 number(0.999), number(1e-8), number(0.01)],
                dict(gradientScale=1.0, decoupledDecay=1, biasCorrection=1),
                outputs=(0, 1, 2))),
            Case("update", f"RMSprop {count}", operation(
                "rmspropUpdate",
                [w, w, square, number(0.001), number(0.9), number(1e-7),
                 number(0)],
                dict(gradientScale=1.0, momentum=0, epsilonInside=0),
                outputs=(0, 1))),
        ]
    return cases


def indexing() -> list[Case]:
    cases = [Case("indexing", f"top {k} of {rows} x {columns}", operation(
                 "topK", [tensor(rows, columns)],
                 dict(k=k, largest=1, order="DESCENDING", payload="none")))
             for rows, columns, k in ((64, 1000, 5), (16, 50000, 100),
                                      (256, 1024, 256))]
    # Rows of an embedding, and the sum of their gradients.
    for rows, columns, count in ((30522, 768, 512), (1000, 64, 4096)):
        table = tensor(1, rows, columns)
        picked = tensor(1, count, 1, type="int", low=0, high=rows)
        attributes = dict(dims=[0], sizes=[1], outOfRange="skip")
        size = f"{count} rows of {rows} x {columns}"
        cases += [
            Case("indexing", f"look up {size}", operation(
                "dynamicSlice", [table, picked],
                dict(attributes, missing="zero"))),
            Case("indexing", f"add to {size}", operation(
                "dynamicUpdate",
                [table, tensor(1, count, 1, columns), picked],
                dict(attributes, op="ADD", scaled=0))),
        ]
    return cases


def all_cases() -> list[Case]:
    return (squares() + skewed() + attention() + dense_layers()
            + convolutions() + single_images() + elementwise() + softmaxes()
            + reductions() + norms() + max_pools() + mean_pools() + updates()
            + indexing())
