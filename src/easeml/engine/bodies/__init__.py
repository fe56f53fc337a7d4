"""Task bodies by kind: ``body(spec, inputs, outputs) -> TaskResult``.

They see files only, and no database.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from easeml.contract.tasks import TaskResult

from .checking import check_module
from .importance import importance
from .ingest import declare_version, feed_version, read_upload, refine_version
from .score import rescore, test_quality
from .suspicion import suspicion
from .train import train

Body = Callable[[Any, Path, Path], TaskResult]

BODIES: dict[str, Body] = {
    "ingest-upload": read_upload,
    "ingest-declare": declare_version,
    "ingest-feed": feed_version,
    "ingest-refine": refine_version,
    "train": train,
    "test-quality": test_quality,
    "rescore": rescore,
    "suspicion": suspicion,
    "importance": importance,
    "check-module": check_module,
}

__all__ = ["BODIES", "Body"]
