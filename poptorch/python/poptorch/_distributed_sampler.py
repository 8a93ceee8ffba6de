# Which elements of a dataset each process of a distributed run loads.
import torch


class DistributedRange(torch.utils.data.Sampler):
    """A contiguous part of the indices, or of a shuffle that all processes
    make alike."""

    def __init__(self, count, step, process, processes, drop_last, seed):
        self._count = count
        self._drop_last = drop_last
        self._process = process
        self._processes = processes
        self._epoch = 0
        self._generator = None
        if seed is not None:
            self._generator = torch.Generator()
            self._generator.manual_seed(seed)
        if drop_last:
            self._length = step * (count // (step * processes))
        else:
            self._length = self._evenStart(process + 1) - self._evenStart(
                process
            )

    def _evenStart(self, process):
        return self._count * process // self._processes

    def __len__(self):
        return self._length

    def __iter__(self):
        indices = range(self._count)
        if self._generator is not None:
            indices = torch.randperm(
                self._count, generator=self._generator
            ).tolist()
        start = self._evenStart(self._process)
        if self._drop_last:
            start = self._length * self._process
            if self._generator is not None and self._epoch % 2:
                # What is left over comes first every other epoch.
                start += self._count - self._length * self._processes
        self._epoch += 1
        return iter(indices[start : start + self._length])
