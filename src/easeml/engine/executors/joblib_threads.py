"""Threads of joblib that a confined child can have.

joblib's own make a semaphore of the system first, which is a file beyond the child's folder: there
each forest with more than one thread failed with ``PermissionError``.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from joblib import parallel_config, register_parallel_backend
from joblib.parallel import ParallelBackendBase, SequentialBackend


class PlainThreads(ParallelBackendBase):
    """Runs the calls of a ``joblib.Parallel`` on threads of ``concurrent.futures``."""

    uses_threads = True
    supports_sharedmem = True
    supports_retrieve_callback = True

    def __init__(self, most: int = 1, **options: Any):
        """``most``: threads where a call does not say how many."""
        super().__init__(**options)
        self._most = most
        self._pool: ThreadPoolExecutor | None = None

    def effective_n_jobs(self, n_jobs: Any) -> Any:
        """Return how many threads are meant: all that there may be for a number below 0."""
        return max(1, n_jobs if n_jobs > 0 else self._most)

    def configure(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        n_jobs: int = 1,
        parallel: Any = None,
        prefer: Any = None,
        require: Any = None,
        **backend_kwargs: Any,
    ) -> int:
        """Start the threads; return how many there are."""
        self.parallel = parallel
        threads = self.effective_n_jobs(n_jobs)
        self._pool = ThreadPoolExecutor(threads)
        return threads

    def submit(
        self, func: Callable[[], Any], callback: Callable[[Future[Any]], None] | None = None
    ) -> Future[Any]:
        """Have a call made by one of the threads."""
        assert self._pool is not None
        future = self._pool.submit(func)
        if callback is not None:
            future.add_done_callback(callback)
        return future

    def retrieve_result_callback(self, out: Future[Any]) -> Any:
        """Return what a call returned, or raise what it raised."""
        return out.result()

    def terminate(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def get_nested_backend(self) -> Any:
        """Calls within calls are made one after the other."""
        return SequentialBackend(nesting_level=(self.nesting_level or 0) + 1), None


def use_plain_threads(most: int) -> None:
    """Let all of joblib in this process run on ``most`` plain threads.

    Also where its own are asked for by their name, as boosting of scikit-learn does.
    """
    register_parallel_backend("threading", partial(PlainThreads, most))
    parallel_config(backend=PlainThreads(most))
