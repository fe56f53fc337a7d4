"""Task bodies by kind: ``body(spec, inputs, outputs) -> TaskResult``. They see files only, and no database."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from easeml.contract.tasks import TaskResult

from .ingest import declare_version, read_upload
from .score import test_quality
from .train import train

Body = Callable[[Any, Path, Path], TaskResult]

BODIES: dict[str, Body] = {
    "ingest-upload": read_upload,
    "ingest-declare": declare_version,
    "train": train,
    "test-quality": test_quality,
}

__all__ = ["BODIES", "Body"]
