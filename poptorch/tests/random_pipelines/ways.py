"""Ways to train a network: where its pieces run, and when."""

from dataclasses import dataclass, field

import torch

import poptorch

STRATEGIES = ("pipelined", "pipelined", "pipelined", "sharded", "serial",
              "parallel", "one IPU")
SPELLINGS = ("with", "start", "begin", "function")
STAGES = ("same as IPU", "increment", "listed", "listed IPUs")
OPTIMIZERS = ("SGD", "momentum", "Adam", "LAMB")
RECOMPUTATION = (None, "None0", "Standard1", "NormOnly2", "Pipeline3",
                 "RecomputeAll4")


@dataclass
class Way:
    strategy: str
    spelling: str
    stages: str
    ipus: list  # of blocks
    blocks: list  # of pieces
    is_training: bool
    optimizer: str
    micro_batch: int
    accumulation: int
    replicas: int
    iterations: int
    output: poptorch.OutputMode
    reduction: poptorch.ReductionType
    popart: dict = field(default_factory=dict)

    @property
    def rows(self):
        return (self.micro_batch * self.accumulation * self.replicas
                * self.iterations)

    @property
    def is_pipelined(self):
        return self.strategy == "pipelined" and max(self.ipus) > 0

    def options(self, is_plain):
        """Those that say what is computed, and of a way also how."""
        options = poptorch.Options().showCompilationProgressBar(False)
        options.autoRoundNumIPUs(True).deviceIterations(self.iterations)
        options.replicationFactor(self.replicas).randomSeed(7)
        options.outputMode(self.output)
        options.Training.accumulationAndReplicationReductionType(self.reduction)
        options.broadcastBuffers(False)
        if self.is_training:
            options.Training.gradientAccumulation(self.accumulation)
        if not is_plain:
            for name, value in self.popart.items():
                options._Popart.set(name, value)
            options.setExecutionStrategy(self._strategy())
        return options

    def _name(self, block):
        return f"b{block}"

    def _strategy(self):
        names = [self._name(i) for i in range(len(self.ipus))]
        if self.strategy == "serial":
            return poptorch.SerialPhasedExecution(*[[n] for n in names])
        if self.strategy == "parallel":
            return poptorch.ParallelPhasedExecution(*[[n] for n in names])
        kind = (poptorch.PipelinedExecution if self.strategy == "pipelined"
                else poptorch.ShardedExecution)  # fmt: skip
        if self.stages == "same as IPU":
            return kind(poptorch.AutoStage.SameAsIpu)
        if self.stages == "increment":
            return kind(poptorch.AutoStage.AutoIncrement)
        if self.stages == "listed":
            return kind(*names)
        return kind(*(poptorch.Stage(n).ipu(ipu)
                      for n, ipu in zip(names, self.ipus)))

    def _ipuOf(self, block):
        isListed = self.strategy in ("serial", "parallel")
        isListed = isListed or self.stages == "listed IPUs"
        return None if isListed else self.ipus[block]

    def apply(self, network):
        """Puts the pieces of a network into blocks."""
        if self.strategy == "one IPU":
            return
        blocks = self.blocks
        if self.spelling == "begin":
            for i, piece in enumerate(network.pieces):
                if i == 0 or blocks[i] != blocks[i - 1]:
                    poptorch.BeginBlock(piece, self._name(blocks[i]),
                                        ipu_id=self._ipuOf(blocks[i]))
            return

        def place(i, piece, state):
            name, ipu = self._name(blocks[i]), self._ipuOf(blocks[i])
            if self.spelling == "start":
                poptorch.Block.start(name, ipu_id=ipu)
                piece(state)
            elif self.spelling == "with":
                with poptorch.Block(name, ipu_id=ipu):
                    piece(state)
            else:
                poptorch.BlockFunction(name, ipu_id=ipu)(piece)(state)

        network.place = place

    def makeOptimizer(self, network):
        parameters = [w for w in network.parameters() if w.requires_grad]
        if self.optimizer == "SGD":
            return torch.optim.SGD(parameters, lr=0.02)
        if self.optimizer == "momentum":
            return torch.optim.SGD(parameters, lr=0.02, momentum=0.5)
        if self.optimizer == "Adam":
            return torch.optim.Adam(parameters, lr=1e-3, eps=1e-3)
        return poptorch.optim.LAMB(parameters, lr=1e-3, eps=1e-3)


def _ipusOf(rng, strategy, stages, count):
    """Of blocks one after another; neighbours may share one."""
    if strategy == "one IPU":
        return [0] * count
    if strategy in ("serial", "parallel"):
        return [i % 2 if strategy == "parallel" else 0 for i in range(count)]
    if stages == "same as IPU" and strategy == "pipelined":
        return list(range(count))
    if stages == "listed":
        return list(range(count))
    last = rng.randint(1, 3)
    return [rng.randint(0, last) for _ in range(count)]


def _recomputation(rng, strategy):
    chosen = rng.choice(range(5))
    return {} if rng.random() < 0.4 else {"autoRecomputation": chosen}


def drawWay(rng, pieces):
    strategy = rng.choice(STRATEGIES)
    stages = rng.choice(STAGES)
    spelling = rng.choice(SPELLINGS)
    count = rng.randint(1 if strategy != "pipelined" else 2,
                        min(8, len(pieces)))
    cuts = sorted(rng.sample(range(1, len(pieces)), count - 1))
    blocks = [sum(cut <= i for cut in cuts) for i in range(len(pieces))]
    ipus = _ipusOf(rng, strategy, stages, count)
    if stages == "same as IPU" and strategy == "sharded":
        spelling = "with" if spelling == "begin" else spelling
    is_training = rng.random() < 0.75
    forward = 1 + count
    replicas = rng.choice([1, 1, 1, 2, 4])
    while (max(ipus) + 1) * replicas > 16:
        replicas //= 2
    needed = 2 * forward - 1 if strategy == "pipelined" else 1
    accumulation, iterations = 1, rng.choice([1, 1, 2])
    if is_training:
        accumulation = needed - 1 + rng.randint(1, 4)
    elif strategy == "pipelined":
        iterations = forward + rng.randint(0, 2)
    return Way(
        strategy, spelling, stages, ipus, blocks, is_training,
        rng.choice(OPTIMIZERS), rng.choice([3, 4, 4]), accumulation, replicas,
        iterations,
        rng.choice([poptorch.OutputMode.All] * 3
                   + [poptorch.OutputMode.Final, poptorch.OutputMode.Sum,
                      poptorch.OutputMode.EveryN][:2]),
        rng.choice([poptorch.ReductionType.Mean, poptorch.ReductionType.Sum]),
        _recomputation(rng, strategy) if is_training else {},
    )
