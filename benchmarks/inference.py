"""Inference loops, one class for each framework.

scores(count) does the next `count` batches and returns the last one's scores.
"""

from pathlib import Path

import torch
from networks import Network
from training import compile_time, group


class Inference:
    """Batches in turn; what is compared is the start of the scores."""

    shown = 40

    def __init__(self, inputs):
        self.inputs = inputs
        self.next = 0

    def next_input(self):
        self.next += 1
        return self.inputs[(self.next - 1) % len(self.inputs)]

    def scores(self, count: int):
        for _ in range(count):
            result = self.step()
        return result

    def run(self, count: int) -> list[float]:
        return self.scores(count).reshape(-1)[:self.shown].tolist()


class PyTorchInference(Inference):
    """Stock PyTorch, eager or traced, frozen and optimised."""

    def __init__(self, network: Network, inputs, *, traced: bool,
                 channels_last: bool):
        layout = (torch.channels_last if channels_last
                  else torch.contiguous_format)
        super().__init__([i.contiguous(memory_format=layout) for i in inputs])
        model = network.make_layers(True).eval().to(memory_format=layout)
        self.state = [*model.parameters(), *model.buffers()]
        if traced:
            with torch.no_grad():
                model = torch.jit.trace(model, self.inputs[0],
                                        check_trace=False)
                model = torch.jit.optimize_for_inference(model)
        self.model = model

    def step(self):
        with torch.inference_mode():
            return self.model(self.next_input())

    def persistent(self):
        """What stays in memory between steps, and one batch."""
        return [*self.state, self.inputs[0]]


class OnnxInference(Inference):
    """ONNX Runtime, on what PyTorch exports."""

    def __init__(self, network: Network, inputs, *, threads: int, file: str):
        import onnxruntime

        super().__init__([i.numpy() for i in inputs])
        torch.onnx.export(network.make_layers(True).eval(), inputs[0], file,
                          opset_version=14)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(
            file, options, providers=["CPUExecutionProvider"])
        Path(file).unlink()
        self.name = self.session.get_inputs()[0].name

    def step(self):
        return self.session.run(None, {self.name: self.next_input()})[0]


class AspenInference(Inference):
    """PopTorch with its default options, but for the device iterations."""

    def __init__(self, network: Network, inputs, *, per_call: int):
        import poptorch

        super().__init__(group(inputs, per_call))
        options = poptorch.Options()
        options.deviceIterations(per_call)
        options.showCompilationProgressBar(False)
        self.model = poptorch.inferenceModel(
            network.make_layers(True).eval(), options)
        self.compile_seconds = compile_time(self.model, self.inputs[0])
        self.per_call = per_call

    def scores(self, count: int):
        assert count % self.per_call == 0
        for _ in range(count // self.per_call):
            result = self.model(self.next_input())
        return result[-(len(result) // self.per_call):]

    def state_after(self, count: int):
        """What `count` steps have made."""
        return [self.scores(count)]
