"""PyTorch's side of the operations' benchmark: operators called one by one.

Speaks the commands of Worker.hpp. Images are tried in both memory formats, and
the faster counts.
"""

import functools
import json
import sys
import time

import numpy as np
import torch

from cases import GELU_CHAIN, SCALED_SUM

CHUNK = 5e-3  # seconds between two looks at the clock
ATEN = torch.ops.aten
TYPES = {"float": torch.float32, "half": torch.float16, "int": torch.int32}


def input_values(description: dict, number: int) -> torch.Tensor:
    """As inputValues() of Worker.hpp."""
    shape = description["shape"]
    index = np.arange(int(np.prod(shape)), dtype=np.uint32)
    hashed = (index * np.uint32(2654435761)
              + np.uint32((number * 0x9e3779b9 + 1) % 2**32))
    hashed ^= hashed >> np.uint32(16)
    hashed *= np.uint32(0x45d9f3b)
    hashed ^= hashed >> np.uint32(16)
    unit = (hashed >> np.uint32(8)).astype(np.float32) * np.float32(2**-24)
    low = np.float32(description.get("low", -0.5))
    high = np.float32(description.get("high", 0.5))
    values = torch.from_numpy(low + (high - low) * unit).reshape(shape)
    values = values.to(TYPES[description.get("type", "float")])
    return values.mT if description.get("transposed") else values


def inputs_of(operation: dict, made=()) -> list[torch.Tensor]:
    return [made[i["output"]] if "output" in i else input_values(i, number)
            for number, i in enumerate(operation["inputs"])]


def matmul(inputs, _):
    a, b = inputs
    out = torch.empty(*a.shape[:-1], b.shape[-1])
    product = torch.mm if a.dim() == 2 else torch.bmm
    return lambda: (product(a, b, out=out),)


def convolution(inputs, attributes):
    x, w = inputs
    arguments = dict(stride=attributes["strides"],
                     padding=attributes["padLower"])
    return lambda: (torch.conv2d(x, w, **arguments),)


def convolution_backward(dy, x, w, attributes, mask):
    results = ATEN.convolution_backward(
        dy, x, w, None, attributes["strides"], attributes["padLower"],
        attributes["dilations"], False, [0, 0], attributes["groups"], mask)
    return results[mask.index(True)]


def convolution_data_grad(inputs, attributes):
    dy, w = inputs
    x = torch.empty(attributes["inputShape"]).to(
        memory_format=format_of(dy))
    return lambda: (convolution_backward(dy, x, w, attributes,
                                         [True, False, False]),)


def convolution_weight_grad(inputs, attributes):
    dy, x = inputs
    w = torch.empty(dy.shape[1], x.shape[1], *attributes["kernelShape"]).to(
        memory_format=format_of(dy))
    return lambda: (convolution_backward(dy, x, w, attributes,
                                         [False, True, False]),)


EXPRESSIONS = {
    "relu(a)": torch.relu, "exp(a)": torch.exp, "tanh(a)": torch.tanh,
    "sigmoid(a)": torch.sigmoid, "gelu_erf(a)": torch.nn.functional.gelu,
    "a+b": torch.add, "a*b": torch.mul,
    GELU_CHAIN: functools.partial(torch.nn.functional.gelu,
                                  approximate="tanh"),
    SCALED_SUM: lambda a, b, out: torch.add(b, a, alpha=0.5, out=out),
}


def elementwise(inputs, _, expression):
    function = EXPRESSIONS[expression]
    if expression in ("relu(a)", "gelu_erf(a)", GELU_CHAIN):  # no out=
        return lambda: (function(*inputs),)
    out = torch.empty_like(inputs[0])
    return lambda: (function(*inputs, out=out),)


def softmax(inputs, _):
    return lambda: (torch.softmax(inputs[0], -1),)


def log_softmax(inputs, _):
    return lambda: (torch.log_softmax(inputs[0], -1),)


def softmax_grad(inputs, _):
    dy, y = inputs
    return lambda: (ATEN._softmax_backward_data(dy, y, -1, torch.float32),)


def log_softmax_grad(inputs, _):
    dy, y = inputs
    return lambda: (ATEN._log_softmax_backward_data(dy, y, -1,
                                                    torch.float32),)


def reduce(inputs, attributes):
    function = {"ADD": torch.sum, "MAX": torch.amax}[attributes["op"]]
    return lambda: (function(inputs[0], attributes["dims"]),)


def is_layer_norm(x, attributes) -> bool:
    return attributes["groups"] == 1 and x.dim() == 2


def group_norm(inputs, attributes):
    x, gamma, beta = inputs
    n, c = x.shape[:2]
    if is_layer_norm(x, attributes):
        return lambda: ATEN.native_layer_norm(x, [c], gamma, beta,
                                              attributes["epsilon"])
    size = x[0, 0].numel()
    return lambda: ATEN.native_group_norm(
        x, gamma, beta, n, c, size, attributes["groups"],
        attributes["epsilon"])


def group_norm_grad(inputs, attributes):
    dy, x, gamma, mean, deviation = inputs
    n, c = x.shape[:2]
    mask = [True, True, True]
    if is_layer_norm(x, attributes):
        beta = torch.zeros(c)
        return lambda: ATEN.native_layer_norm_backward(
            dy, x, [c], mean, deviation, gamma, beta, mask)
    size = x[0, 0].numel()
    return lambda: ATEN.native_group_norm_backward(
        dy, x, mean, deviation, gamma, n, c, size, attributes["groups"], mask)


def batch_norm(inputs, attributes):
    x, gamma, beta = inputs
    return lambda: ATEN.native_batch_norm(x, gamma, beta, None, None, True,
                                          0.0, attributes["epsilon"])


def batch_norm_grad(inputs, _):
    dy, x, gamma, mean, deviation = inputs
    return lambda: ATEN.native_batch_norm_backward(
        dy, x, gamma, None, None, mean, deviation, True, 1e-5,
        [True, True, True])


def max_pool(inputs, attributes):
    return lambda: ATEN.max_pool2d_with_indices(
        inputs[0], attributes["kernel"], attributes["strides"],
        attributes["padLower"])


def max_pool_grad(inputs, attributes):
    dy, indices = inputs
    x = torch.empty(attributes["inputShape"]).to(memory_format=format_of(dy))
    return lambda: (ATEN.max_pool2d_with_indices_backward(
        dy, x, attributes["kernel"], attributes["strides"],
        attributes["padLower"], [1, 1], False, indices),)


def mean_pool(inputs, attributes):
    return lambda: (ATEN.avg_pool2d(inputs[0], attributes["kernel"],
                                    attributes["strides"]),)


def mean_pool_grad(inputs, attributes):
    dy, = inputs
    x = torch.empty(attributes["inputShape"]).to(memory_format=format_of(dy))
    return lambda: (ATEN.avg_pool2d_backward(
        dy, x, attributes["kernel"], attributes["strides"], [0, 0], False,
        True, None),)


def top_k(inputs, attributes):
    return lambda: (torch.topk(inputs[0], attributes["k"])[0],)


def look_up(inputs, _):
    table, picked = inputs[0][0], inputs[1].flatten().long()
    out = torch.empty(len(picked), table.shape[1])
    return lambda: (torch.index_select(table, 0, picked, out=out),)


def add_rows(inputs, _):
    table, rows = inputs[0][0], inputs[1][0, :, 0]
    picked = inputs[2].flatten().long()
    return lambda: (table.index_add_(0, picked, rows),)


def stepping(parameter, gradient, optimizer, state, names):
    """Steps one parameter; the state starts with the given values."""
    parameter.grad = gradient
    if state:
        optimizer.state[parameter].update(state)

    def step():
        optimizer.step()
        return (parameter.detach(),
                *(optimizer.state[parameter][name] for name in names))

    return step


def sgd_update(inputs, attributes, foreach):
    w, g, rate = inputs[:3]
    w.requires_grad_()
    if not attributes["momentum"]:
        optimizer = torch.optim.SGD([w], lr=rate.item(), foreach=foreach)
        return stepping(w, g, optimizer, {}, [])
    optimizer = torch.optim.SGD([w], lr=rate.item(), foreach=foreach,
                                momentum=inputs[5].item())
    return stepping(w, g, optimizer, dict(momentum_buffer=inputs[4]),
                    ["momentum_buffer"])


def adam_update(inputs, _, foreach):
    w, g, m, v, step, rate, beta1, beta2, epsilon, decay = inputs
    w.requires_grad_()
    optimizer = torch.optim.AdamW(
        [w], lr=rate.item(), betas=(beta1.item(), beta2.item()),
        eps=epsilon.item(), weight_decay=decay.item(), foreach=foreach)
    return stepping(w, g, optimizer,
                    dict(step=step.clone(), exp_avg=m, exp_avg_sq=v),
                    ["exp_avg", "exp_avg_sq"])


def rmsprop_update(inputs, _, foreach):
    w, g, square, rate, alpha, epsilon, _ = inputs
    w.requires_grad_()
    optimizer = torch.optim.RMSprop([w], lr=rate.item(), alpha=alpha.item(),
                                    eps=epsilon.item(), foreach=foreach)
    return stepping(w, g, optimizer, dict(step=0, square_avg=square),
                    ["square_avg"])


MAKERS = {
    "matmul": matmul, "convolution": convolution,
    "convolutionDataGrad": convolution_data_grad,
    "convolutionWeightGrad": convolution_weight_grad, "softmax": softmax,
    "logSoftmax": log_softmax, "softmaxGrad": softmax_grad,
    "logSoftmaxGrad": log_softmax_grad, "reduce": reduce,
    "groupNorm": group_norm, "groupNormGrad": group_norm_grad,
    "batchNorm": batch_norm, "batchNormGrad": batch_norm_grad,
    "maxPool": max_pool, "maxPoolGrad": max_pool_grad, "pool": mean_pool,
    "poolGrad": mean_pool_grad, "topK": top_k, "dynamicSlice": look_up,
    "dynamicUpdate": add_rows,
}
UPDATES = {"sgdUpdate": sgd_update, "adamUpdate": adam_update,
           "rmspropUpdate": rmsprop_update}


def format_of(images: torch.Tensor) -> torch.memory_format:
    is_last = images.is_contiguous(memory_format=torch.channels_last)
    return (torch.channels_last if is_last and not images.is_contiguous()
            else torch.contiguous_format)


def in_format(tensors, memory_format):
    return [t.contiguous(memory_format=memory_format) if t.dim() == 4 else t
            for t in tensors]


def callables(operation: dict) -> list:
    """The ways to compute the operation, as functions without arguments."""
    kind, attributes = operation["kind"], operation["attributes"]
    if kind == "elementwise":
        return [elementwise(inputs_of(operation), attributes,
                            operation["expression"])]
    if kind in UPDATES:
        return [UPDATES[kind](inputs_of(operation), attributes, foreach)
                for foreach in (False, True)]
    has_images = any(len(i.get("shape", ())) == 4 for i in operation["inputs"])
    formats = [torch.contiguous_format] + [torch.channels_last] * has_images
    ways = []
    for memory_format in formats:
        made = ()
        if "before" in operation:
            before = operation["before"]
            made = MAKERS[before["kind"]](
                in_format(inputs_of(before), memory_format),
                before["attributes"])()
        inputs = in_format(inputs_of(operation, made), memory_format)
        ways.append(MAKERS[kind](inputs, attributes))
    return ways


def samples_of(tensor: torch.Tensor) -> dict:
    values = tensor.contiguous().flatten()
    count = min(64, len(values))
    index = [i * 2654435761 % len(values) for i in range(count)]
    return dict(samples=values[index].tolist(),
                meanSize=values.abs().double().mean().item())


def best_of(seconds: float, call) -> float:
    figures, end = [], time.perf_counter() + seconds
    while not figures or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        figures.append(time.perf_counter() - start)
    return min(figures)


class Worker:
    def prepare(self, operation: dict) -> dict:
        ways = callables(operation)
        results = ways[0]()
        answer = [samples_of(results[i]) for i in operation["outputs"]]
        best, self.call = min(((best_of(2e-3, way), way) for way in ways),
                              key=lambda pair: pair[0])
        self.repeats = int(min(max(CHUNK / best, 1), 10000))
        return dict(outputs=answer)

    def time(self, seconds: float) -> float:
        def chunk():
            for _ in range(self.repeats):
                self.call()

        return best_of(seconds, chunk) / self.repeats


def main():
    torch.set_grad_enabled(False)
    torch.set_num_threads(int(sys.argv[1]))
    worker = Worker()
    for line in sys.stdin:
        command = json.loads(line)
        answer = (worker.prepare(command["prepare"]) if "prepare" in command
                  else worker.time(command["seconds"]))
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
