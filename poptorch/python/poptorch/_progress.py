# The bar shown while a model is compiled.
import datetime
import time

from tqdm import tqdm


class ProgressBar:
    """A tqdm bar fed by the backend's callback; also times the compilation."""

    def __init__(self):
        self._bar = None
        self._start = time.perf_counter()
        self._end = None

    def __call__(self, progress, total):
        if self._bar is None:
            self._bar = tqdm(
                total=total,
                desc="Graph compilation",
                bar_format=(
                    "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}]"
                ),
            )
        self._bar.n = progress
        self._bar.refresh()
        if progress >= total:
            self.close()

    def close(self):
        if self._end is None:
            self._end = time.perf_counter()
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    @property
    def elapsed(self):
        return datetime.timedelta(seconds=self._end - self._start)
