# Stages, phases and execution strategies: which block runs on which IPU, when.
from . import enums


class Stage:
    """Blocks that run one after the other on one IPU."""

    def __init__(self, *block_ids):
        assert all(isinstance(b, str) for b in block_ids), (
            "Block ids are supposed to be strings"
        )
        self._blocks = list(block_ids)
        self._ipu = None
        self._stage_id = -1

    @property
    def blocks(self):
        return self._blocks

    def ipu(self, ipu):
        """Places the stage; by default block and stage ids decide."""
        assert isinstance(ipu, int)
        self._ipu = ipu
        return self

    def __repr__(self):
        return f"Stage({', '.join(map(repr, self._blocks))})"


class Phase:
    """Stages that may run at the same time."""

    def __init__(self, *arguments):
        if arguments and all(isinstance(a, str) for a in arguments):
            arguments = (Stage(*arguments),)
        assert all(isinstance(a, Stage) for a in arguments), (
            "A phase is made of stages or of block ids"
        )
        self._stages = list(arguments)

    @property
    def stages(self):
        return self._stages

    def stage(self, index):
        return self._stages[index]

    def ipus(self, *ipus):
        assert len(ipus) == len(self._stages), (
            f"Phase contains {len(self._stages)} stages but you provided "
            f"{len(ipus)} ipus"
        )
        for stage, ipu in zip(self._stages, ipus):
            stage.ipu(ipu)
        return self


class IExecutionStrategy:
    """What the options ask of a strategy."""

    def place(self, block_id, ipu_id):
        """(ipu, stage, phase) of a block that forward() enters."""
        raise NotImplementedError

    def backendOptions(self):
        raise NotImplementedError

    def startTrace(self):
        """Forgets what an earlier trace decided."""


class _StagedExecution(IExecutionStrategy):
    """Strategies made of stages: pipelined and sharded."""

    def __init__(self, *arguments):
        self._auto = None
        self._stages = []
        self._by_block = {}
        if not arguments:
            arguments = (enums.AutoStage.SameAsIpu,)
        if len(arguments) == 1 and isinstance(arguments[0], enums.AutoStage):
            self._auto = arguments[0]
        else:
            for argument in arguments:
                self._addStage(_toStage(argument))
        self.startTrace()

    def _addStage(self, stage):
        stage._stage_id = len(self._stages)
        self._stages.append(stage)
        for block in stage.blocks:
            assert block not in self._by_block, (
                f"{block} associated with more than one stage"
            )
            self._by_block[block] = stage

    def startTrace(self):
        self._automatic = {}

    def stage(self, block_id):
        assert block_id in self._by_block, f"Unknown block {block_id}"
        return self._by_block[block_id]

    def place(self, block_id, ipu_id):
        if self._auto == enums.AutoStage.SameAsIpu:
            assert ipu_id is not None, (
                "poptorch.AutoStage.SameAsIpu was selected but no IPU was "
                f"specified for block {block_id}"
            )
            return ipu_id, ipu_id, 0
        if self._auto == enums.AutoStage.AutoIncrement:
            # Stage 0 is what comes before any block.
            stage = self._automatic.setdefault(
                block_id, len(self._automatic) + 1
            )
            return (stage if ipu_id is None else ipu_id), stage, 0
        assert block_id in self._by_block, (
            f"Unknown Block '{block_id}' list of expected Blocks: "
            f"{list(self._by_block)}"
        )
        stage = self._by_block[block_id]
        ipu = stage._ipu
        if ipu is None:
            ipu = stage._stage_id if ipu_id is None else ipu_id
        return ipu, stage._stage_id, 0


class PipelinedExecution(_StagedExecution):
    """Stages work on different micro-batches at the same time."""

    def backendOptions(self):
        return {"execution_mode": "pipelined"}


class ShardedExecution(_StagedExecution):
    """Stages run one after the other."""

    def backendOptions(self):
        return {"execution_mode": "sharded"}


class _PhasedExecution(IExecutionStrategy):
    _mode = ""

    def __init__(self, *phases):
        assert phases, (
            "There is currently no AutoStage for PhasedExecution, please "
            "explicitly specify the phases"
        )
        self._phases = [_toPhase(p) for p in phases]
        self._by_block = {}
        self._separate_backward = False
        self._liveness = enums.Liveness.AlwaysLive
        for index, phase in enumerate(self._phases):
            for position, stage in enumerate(phase.stages):
                stage._stage_id = position
                for block in stage.blocks:
                    assert block not in self._by_block, (
                        f"{block} associated with more than one stage"
                    )
                    self._by_block[block] = (index, stage)

    def phase(self, phase):
        return self._phases[phase]

    def stage(self, block_id):
        assert block_id in self._by_block, f"Unknown block {block_id}"
        return self._by_block[block_id][1]

    def useSeparateBackwardPhase(self, use=True):
        self._separate_backward = use
        return self

    def place(self, block_id, ipu_id):
        assert block_id in self._by_block, (
            f"Unknown Block '{block_id}' list of expected Blocks: "
            f"{list(self._by_block)}"
        )
        phase, stage = self._by_block[block_id]
        ipu = stage._ipu
        if ipu is None:
            ipu = ipu_id
        if ipu is None:
            ipu = self._defaultIpu(phase, stage)
        return ipu, stage._stage_id, phase

    def _defaultIpu(self, phase, stage):
        return stage._stage_id

    def backendOptions(self):
        return {
            "execution_mode": self._mode,
            "separate_backward_phase": self._separate_backward,
            "tensors_liveness": int(self._liveness),
        }


class SerialPhasedExecution(_PhasedExecution):
    """Phases run one after the other, all on the same IPUs."""

    _mode = "serial_phased"

    def setTensorsLiveness(self, liveness):
        assert isinstance(liveness, enums.Liveness)
        self._liveness = liveness
        return self


class ParallelPhasedExecution(_PhasedExecution):
    """Odd and even phases run on different IPUs."""

    _mode = "parallel_phased"

    def _defaultIpu(self, phase, stage):
        return 2 * stage._stage_id + phase % 2

    def place(self, block_id, ipu_id):
        ipu, stage, phase = super().place(block_id, ipu_id)
        assert ipu % 2 == phase % 2, (
            "When phases are executed in parallel: even phases must be on even "
            f"IPUs and odd phases on odd IPUs (phase {phase} is on IPU {ipu})"
        )
        return ipu, stage, phase

    def sendTensorsOffChipAfterFwd(self, off_chip=True):
        live = enums.Liveness
        self._liveness = live.OffChipAfterFwd if off_chip else live.AlwaysLive
        return self


def _toStage(argument):
    if isinstance(argument, Stage):
        return argument
    if isinstance(argument, str):
        return Stage(argument)
    assert isinstance(argument, (list, tuple)), (
        f"Expected a poptorch.Stage, a block id or a list of block ids, not "
        f"{argument!r}"
    )
    return Stage(*argument)


def _toPhase(argument):
    if isinstance(argument, Phase):
        return argument
    if isinstance(argument, (Stage, str)):
        return Phase(argument)
    return Phase(*argument)
