"""Collects all tests when it is imported, for ``forked_worker``: what they import is then there, compiled
and with its assertions rewritten.
"""

import gc
from pathlib import Path

import pytest

_START_THREADS = ("polars", "onnxruntime")  # when they are imported; a fork would lack them


class _Forkable:
    """Passes over files whose imports do not bear a fork."""

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        if collection_path.suffix != ".py":
            return None
        text = collection_path.read_text("utf-8")
        return any(name in text for name in _START_THREADS) or None


# A file that cannot be imported is told by the workers, which collect again.
pytest.main(["--collect-only", "-qq", "-p", "no:cacheprovider"], plugins=[_Forkable()])
gc.unfreeze()
gc.collect()  # the tests, which each worker makes anew
