"""Who takes part in a comparison: settings of each framework, as processes."""

import json
import os
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import blas
from networks import NETWORKS
from process import Process

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Row:
    """A line of the report: a network, trained or not, at a batch size."""

    network: str
    is_training: bool
    batch: int
    cores: int

    @property
    def clock(self) -> str:
        """A name in the module time: what threads wait for does not count
        where there is one."""
        return "perf_counter" if self.cores > 1 else "process_time"

    @property
    def threads(self) -> list[int]:
        return sorted({1, min(2, self.cores), self.cores})

    @property
    def title(self) -> str:
        return (f"{self.network}, {self.batch}"
                if self.is_training else
                f"{self.network} inference, {self.batch}")

    @property
    def chunk(self) -> int:
        """Steps timed together: fewer if they are long."""
        chunk = NETWORKS[self.network].chunk
        if self.is_training:
            return chunk
        return max(1, chunk // 2) if self.batch > 1 else chunk

    @property
    def checked(self) -> int:
        return NETWORKS[self.network].checked if self.is_training \
            else 2 * self.chunk


@dataclass
class Contender:
    row: Row
    side: str
    name: str
    settings: dict
    environment: dict = field(default_factory=dict)
    python: str = sys.executable
    figures: list[float] = field(default_factory=list)  # seconds per step
    facts: dict = field(default_factory=dict)
    worker: Process | None = None

    def start(self, **changed):
        settings = dict(
            network=self.row.network, is_training=self.row.is_training,
            batch=self.row.batch, chunk=self.row.chunk, side=self.side,
            clock=self.row.clock, **{**self.settings, **changed})
        self.worker = Process(
            [self.python, HERE / "worker.py", json.dumps(settings)],
            self.environment)

    def close(self):
        self.worker.close()
        self.worker = None

    def warm_up(self):
        """First steps compile and allocate: what they take is not kept."""
        self.worker.ask(seconds=0.05)

    def time(self, seconds: float):
        self.figures += self.worker.ask(seconds=seconds)

    @property
    def median(self) -> float:
        return statistics.median(self.figures)

    def summary(self) -> dict:
        """Milliseconds; the spread is between the outer tenths."""
        ordered = sorted(self.figures)
        tenth = len(ordered) // 10
        return dict(side=self.side, setting=self.name,
                    medianMs=self.median * 1e3, bestMs=ordered[0] * 1e3,
                    lowMs=ordered[tenth] * 1e3,
                    highMs=ordered[-1 - tenth] * 1e3, samples=len(ordered),
                    **self.facts)


def plural(count: int) -> str:
    return f"{count} thread{'s' * (count > 1)}"


def pytorch(row: Row, core_type: str | None) -> list[Contender]:
    """Every setting that might be its best."""
    layouts = (False, True) if NETWORKS[row.network].is_image else (False,)
    updates = (False, True) if row.is_training else (None,)
    contenders = []
    # Threads of its own serve OpenBLAS better where products are all there is.
    libraries = [(threads, openmp) for threads in row.threads
                 for openmp in ((True, False) if threads > 1 else (True,))]
    for threads, openmp in libraries:
        environment = blas.environment(threads, core_type, openmp=openmp)
        for traced in (False, True):
            for channels_last in layouts:
                for foreach in updates:
                    name = ", ".join(
                        ["traced" if traced else "eager", plural(threads)]
                        + ["pthread BLAS"] * (not openmp)
                        + ["channels_last"] * channels_last
                        + ["foreach"] * bool(foreach))
                    settings = dict(torch_threads=threads, traced=traced,
                                    channels_last=channels_last)
                    if row.is_training:
                        settings.update(foreach=foreach, dropout=True)
                    contenders.append(Contender(row, "PyTorch", name, settings,
                                                environment))
    return contenders


def onnx_runtime(row: Row, python: str) -> list[Contender]:
    folder = tempfile.gettempdir()
    return [Contender(row, "ONNX Runtime", plural(threads),
                      dict(threads=threads,
                           file=f"{folder}/bench-{os.getpid()}-{threads}.onnx"),
                      python=python)
            for threads in row.threads]


def jax(row: Row, python: str) -> list[Contender]:
    """Trains networks that are layers in a row; compiled whole by XLA."""
    if not NETWORKS[row.network].is_sequential:
        return []
    environments = {1: {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}}
    return [Contender(row, "JAX", plural(threads), dict(dropout=True),
                      environments.get(threads, {}), python)
            for threads in sorted({1, row.cores})]


def aspen(row: Row) -> list[Contender]:
    """With all cores and with one, a call per step and per chunk."""
    accumulation = NETWORKS[row.network].accumulation if row.is_training else 1
    calls = {row.chunk} if accumulation > 1 else {1, row.chunk}
    contenders = []
    for threads in sorted({1, row.cores}, reverse=True):
        for per_call in sorted(calls):
            name = (f"{plural(threads)}, {per_call} "
                    f"step{'s' * (per_call > 1)} a call")
            settings = dict(per_call=per_call)
            if row.is_training:
                settings["dropout"] = True
            # What a tile could hold is not the question here.
            environment = {"ASPEN_THREADS": str(threads),
                           "ASPEN_MEMORY": "warn",
                           "POPTORCH_LOG_LEVEL": "ERR",
                           "POPLAR_LOG_LEVEL": "DEBUG",
                           "POPLAR_LOG_DEST": log_file(row, name)}
            contenders.append(Contender(row, "Aspen", name, settings,
                                        environment))
    return contenders


def log_file(row: Row, name: str) -> str:
    folder = HERE.parent / "build/bench/logs"
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder / f"{row.title}, {name}.log".replace(", ", "-")
               .replace(" ", "_"))
