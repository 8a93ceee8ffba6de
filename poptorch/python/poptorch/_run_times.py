# What runs took: the model's cycles, and the host's clock. The engine takes the
# data of a call whole, so all its micro-batches have the same times.
import logging

from . import enums
from ._errors import createPoptorchError
from ._logging import logger


class RunTimes:
    """Mixin of PoplarExecutor: cycles and latencies of the latest call."""

    def _logsCycles(self):
        popart = self._options._Popart.options
        return popart.get("instrumentWithHardwareCycleCounter")

    def _logCycles(self):
        if self._logsCycles() and logger.isEnabledFor(logging.DEBUG):
            logger.debug("Total number of IPU cycles: %d", self.cycleCount())

    def cycleCount(self):
        """Cycles that the latest call takes on the machine."""
        executable = self._requireExecutable()
        if not self._logsCycles():
            raise createPoptorchError(
                "Cycle count logging is disabled. Please set option "
                "logCycleCount to True to enable."
            )
        if executable.lastRunTimes() is None:
            raise createPoptorchError(
                "Please run the model at least once before obtaining cycle "
                "count."
            )
        return executable.cycleCount()

    def getPerfCounters(self):
        """Seconds at which data was handed over, for each tensor and
        micro-batch."""
        times = self._executable and self._executable.lastRunTimes()
        if not times:
            names = ("input", "input_complete", "output", "output_complete")
            return {name: [[]] for name in names}
        given, returned = self._transfers()
        inputs, outputs = self._plan.tensorCount(), self._output_count
        start, started, end, ended = (round(t, 3) for t in times)
        return {
            "input": [[start] * given for _ in range(inputs)],
            "input_complete": [[started] * given for _ in range(inputs)],
            "output": [[end] * returned for _ in range(outputs)],
            "output_complete": [[ended] * returned for _ in range(outputs)],
        }

    def _hasData(self):
        """Synthetic data is the device's own."""
        return not self._options._Popart.options.get("syntheticDataMode", 0)

    def _transfers(self):
        """How often a call transfers an input, and an output."""
        if not self._hasData():
            return 0, 0
        options = self._options
        replicas = options.replication_factor
        given = options.device_iterations * self._accumulation * replicas
        mode = options.output_mode
        if mode in (enums.OutputMode.Final, enums.OutputMode.Sum):
            return given, replicas
        is_thinned = mode == enums.OutputMode.EveryN
        return given, given // (options.output_return_period if is_thinned else 1)

    def _latency(self, first, last):
        """(min, max, average) seconds between two events."""
        times = self._executable and self._executable.lastRunTimes()
        if not times or self._output_count == 0 or not self._hasData():
            return (0.0, 0.0, 0.0)
        return (times[last] - times[first],) * 3

    def getHostIpuLatency(self):
        return self._latency(0, 1)

    def getComputeLatency(self):
        return self._latency(1, 2)

    def getIpuHostLatency(self):
        return self._latency(2, 3)

    def getLatency(self):
        return self._latency(0, 3)
