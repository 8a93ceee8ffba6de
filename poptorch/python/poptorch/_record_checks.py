# What a trace must not have, given the options of the wrapper.
from . import enums
from ._composites import updatesHidden
from ._errors import createPoptorchError
from ._bodies import numbersOf
from ._strategies import PipelinedExecution

_OVERLAPS = {
    "input": "poptorch::set_overlap_for_input",
    "output": "poptorch::set_overlap_for_output",
}


def checkRecord(record, options):
    _checkBuffers(record, options)
    _checkUpdatableBuffers(record, options)
    if any(_overlapped(record, side) for side in _OVERLAPS):
        _checkOverlapOptions(options)
        _checkOverlappedInputs(record)
        _checkOverlappedOutputs(record)


def _checkBuffers(record, options):
    """Buffers that replicas change would differ from then on."""
    groups = options.replication_factor // options.input_group_size
    if groups < 2 or not options.broadcast_buffers:
        return
    names = {number: name for name, number, *_ in record.state}
    producers = {n: call for call in record.calls for n in call[2]}
    for number, value in record.written_back:
        call = producers.get(value)
        is_statistic = call is not None and updatesHidden(call[0])
        is_statistic |= names.get(number) in record.statistics
        if number in names and not is_statistic:
            raise createPoptorchError(
                "PopTorch does not support broadcasting buffers. If your model "
                "is able to tolerate buffers becoming out of sync between "
                "replicas, you can disable buffer broadcasting using "
                "poptorch.Options.broadcastBuffers(False). (The model changes "
                f"{names[number]}.)"
            )


def _checkUpdatableBuffers(record, options):
    names = [row[0] for row in record.state if not row[2]]
    for name in options._Popart.options.get("updatableNamedBuffers", []):
        if name not in names:
            raise createPoptorchError(
                f"updatableNamedBuffers names {name!r}, which is no buffer "
                f"of the model; its buffers are {', '.join(names) or 'none'}"
            )


# Overlapped input and output.


def _overlapped(record, side):
    """The calls that ask for it, unless they ask for none."""
    none = enums.OverlapMode.NoOverlap.value
    return [
        call
        for call in record.calls
        if call[0] == _OVERLAPS[side] and call[1][1] != none
    ]


def _checkOverlapOptions(options):
    if not options.TensorLocations.exists("numIOTiles"):
        raise createPoptorchError(
            "No IO tiles allocated. You must allocate at least 32 IO tiles "
            "using poptorch.Options().TensorLocations.numIOTiles() to use "
            "overlapped IO."
        )
    if isinstance(options._execution_strategy, PipelinedExecution):
        raise createPoptorchError(
            "Overlapped IO is not supported with poptorch.PipelinedExecution. "
            "If you are using only one IPU, please switch to "
            "poptorch.ShardedExecution."
        )
    modes = enums.OutputMode
    if options.output_mode not in (modes.All, modes.Sum):
        raise createPoptorchError(
            "Unsupported output mode for overlapped IO: poptorch.OutputMode."
            f"{modes(options.output_mode).name}. Use All or Sum."
        )


def _checkOverlappedInputs(record):
    inputs = {number for _, number in record.inputs}
    for call in _overlapped(record, "input"):
        (number,) = numbersOf(call[1])
        if number not in inputs:
            raise createPoptorchError(
                "poptorch.set_overlap_for_input applied on a node which is not "
                "a tensor input to the model."
            )
        readers = [c for c in record.calls if number in numbersOf(c[1])]
        if len(readers) > 1 or number in record.outputs:
            raise createPoptorchError(
                "poptorch.set_overlap_for_input must be the only op applied to "
                "an input."
            )


def _checkOverlappedOutputs(record):
    for call in _overlapped(record, "output"):
        (number,) = call[2]
        count = record.outputs.count(number)
        readers = [c for c in record.calls if number in numbersOf(c[1])]
        if count == 0 or readers:
            raise createPoptorchError(
                "poptorch.set_overlap_for_output applied on a node which is "
                "not a tensor output of the model."
            )
        if count > 1:
            raise createPoptorchError(
                "poptorch.set_overlap_for_output cannot be used with a tensor "
                "that is returned twice."
            )
