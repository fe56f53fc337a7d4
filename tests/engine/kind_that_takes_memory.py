"""A kind of task that takes memory and writes to the disk."""

from pathlib import Path
from typing import Literal

from easeml.contract.tasks import Spec, TaskResult
from easeml.service.tasks.kinds import Kind


class TakeSpec(Spec):
    """How many bytes of each."""

    kind: Literal["take-memory"] = "take-memory"
    memory: int
    disk: int


def take(spec: TakeSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Touch every page of so many bytes, and write so many."""
    taken = bytearray(spec.memory)
    taken[:: 2**12] = b"\1" * len(taken[:: 2**12])
    (outputs / "file").write_bytes(bytes(spec.disk))
    return TaskResult(ok=True)


KIND = Kind(
    name="take-memory",
    title="Take memory",
    about="Takes memory.",
    group="advise",
    spec=TakeSpec,
    body=take,
    record=lambda tx, task, result, digests: None,
)
