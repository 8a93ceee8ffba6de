"""The dense-kernel limit: the products and convolutions of a step alone.

Each is timed as a bare oneDNN primitive, operands in the layouts that oneDNN
asks for, on one core or all, whichever is faster; their sum is what a step would
take if everything else were free. Our own kernels may be below it.
"""

import json
from collections import Counter

import torch
from contenders import Row
from networks import NETWORKS
from operation_suite import PROGRAMS, build
from operations.cases import (Layer, convolution_passes, matmul, tensor,
                              transposed)
from process import Process
from torch import nn


def product(rows: int, depth: int, columns: int, is_training: bool,
            wants_data: bool = True,
            groups: tuple[int, ...] = ()) -> list[dict]:
    """x w, and the gradients of both."""
    x, w, y = (rows, depth), (depth, columns), (rows, columns)
    cases = [matmul(tensor(*groups, *x), tensor(*groups, *w))]
    if is_training:
        cases.append(matmul(transposed(*groups, *x), tensor(*groups, *y)))
        if wants_data:
            cases.append(matmul(tensor(*groups, *y), transposed(*groups, *w)))
    return cases


def convolution(module: nn.Conv2d, x, is_training: bool,
                is_first: bool) -> list[dict]:
    layer = Layer(x.shape[0], x.shape[1], x.shape[2], module.out_channels,
                  module.kernel_size[0], module.stride[0], module.padding[0],
                  is_first)
    passes = [case.description for case in convolution_passes("", "", layer)]
    return passes if is_training else passes[:1]


def lstm(module: nn.LSTM, x, is_training: bool, is_first: bool) -> list[dict]:
    """One product for all inputs; one a step for the states, as each waits."""
    batch, length, features = x.shape
    gates, hidden = 4 * module.hidden_size, module.hidden_size
    state = product(batch, hidden, gates, False)
    if is_training:
        state.append(matmul(tensor(batch, gates), transposed(hidden, gates)))
    cases = product(batch * length, features, gates, is_training,
                    not is_first) + length * state
    if is_training:
        cases.append(matmul(transposed(batch * length, hidden),
                            tensor(batch * length, gates)))
    return cases


def attention(module: nn.MultiheadAttention, x, is_training: bool,
              _) -> list[dict]:
    batch, length, width = x.shape
    groups = (batch * module.num_heads,)
    size = width // module.num_heads
    return (product(batch * length, width, 3 * width, is_training)
            + product(batch * length, width, width, is_training)
            + product(length, size, length, is_training, groups=groups)
            + product(length, length, size, is_training, groups=groups))


def linear(module: nn.Linear, x, is_training: bool,
           is_first: bool) -> list[dict]:
    return product(x.numel() // module.in_features, module.in_features,
                   module.out_features, is_training, not is_first)


RULES = {nn.Conv2d: convolution, nn.Linear: linear, nn.LSTM: lstm,
         nn.MultiheadAttention: attention}


def cases_of(row: Row) -> Counter:
    """Descriptions of a step's dense operations, as text, and how often."""
    network = NETWORKS[row.network]
    layers = network.make_layers(True)
    found = []

    def record(module, inputs):
        found.append((RULES[type(module)], module, inputs[0]))

    for module in layers.modules():
        if type(module) in RULES:
            module.register_forward_pre_hook(record)
    layers(torch.zeros(row.batch, *network.sample))
    counts = Counter()
    for i, (rule, module, x) in enumerate(found):
        for case in rule(module, x, row.is_training, i == 0):
            counts[json.dumps(case)] += 1
    return counts


def limit_ms(row: Row, rounds: int = 5) -> float:
    build("operations_onednn")
    workers = [Process([PROGRAMS / "operations_onednn"],
                       {"OMP_NUM_THREADS": str(threads)})
               for threads in sorted({1, row.cores})]
    total = 0.0
    for text, count in cases_of(row).items():
        figures = []
        for worker in workers:
            worker.ask(prepare=json.loads(text))
            figures += [worker.ask(seconds=0.01) for _ in range(rounds)]
        total += count * min(figures)
    for worker in workers:
        worker.close()
    return total * 1e3
