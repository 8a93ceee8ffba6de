# trainingModel() and inferenceModel().
import torch

from . import optim
from ._errors import createPoptorchError
from ._poplar_executor import PoplarExecutor
from ._strategies import PipelinedExecution
from .options import checkOptions


def _unwrap(model):
    return model.model if isinstance(model, PoplarExecutor) else model


def trainingModel(model, options=None, optimizer=None):
    """A wrapper whose calls train `model`: forward, backward and update."""
    model = _unwrap(model)
    options = checkOptions(options)
    if optimizer is None:
        optimizer = optim.SGD(model.parameters(), lr=0.01)
    return PoplarExecutor(model, options, True, optimizer)


def inferenceModel(model, options=None):
    """A wrapper whose calls run `model`, a module or a function."""
    model = _unwrap(model)
    options = checkOptions(options)
    if options.Training.gradient_accumulation != 1:
        advice = ""
        if isinstance(options._execution_strategy, PipelinedExecution):
            advice = (
                " Use poptorch.Options().deviceIterations to process a sufficient "
                "number of batches each run for pipelined execution instead."
            )
        raise createPoptorchError(
            "You must set poptorch.Options().Training.gradientAccumulation to 1 "
            "(or leave unset) when running a poptorch.inferenceModel." + advice
        )
    if not isinstance(model, torch.nn.Module) and not callable(model):
        raise createPoptorchError("The model must be a module or a function")
    return PoplarExecutor(model, options, False)
