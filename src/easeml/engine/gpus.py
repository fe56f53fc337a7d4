"""The GPUs of this machine, as NVIDIA's driver tells of them by ``nvidia-smi``."""

import os
import re
import subprocess
import threading
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

from easeml.contract.tasks import GpuShare, TaskResult
from easeml.modules import gpu_share
from easeml.store.records import Attempt
from easeml.store.shapes import SeenGpu, SeenGpus

_EVERY = 2.0  # seconds between two looks at what is used: each is a program of its own
SETTLED = 10.0
"""Seconds after the end of a task until what is seen of its GPU has nothing of that task any more."""
_PATIENCE = 5.0  # seconds for an answer: a driver that nobody uses has to start first
_PROGRAM = "nvidia-smi"
_MEMORY = re.compile(r"(\d+) MiB")
_HOLDER = re.compile(rb"(?<![^\0])" + gpu_share.HOLDER.encode() + rb"=(\w+)")
_NAMES_OF_SLICES = re.compile(r"^\s+MIG .*\(UUID: (MIG-[^)]+)\)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FoundGpu:
    """A GPU, or a slice of one; sizes in bytes.

    ``id``: by which CUDA knows it; ``number``: its place on the machine, of a slice ``GPU:SLICE``.
    ``used``: what all programs have.
    """

    id: str
    number: str
    name: str
    memory: int
    used: int


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen at one time. ``processes``: bytes of a GPU by process id."""

    gpus: Sequence[FoundGpu] = ()
    processes: tuple[tuple[int, int], ...] = ()


_NOTHING = Look()


def look(left: str | None = None) -> Look:
    """Return what the driver says; nothing where there is none, or it does not answer.

    ``left``: the GPUs to look at, as ``CUDA_VISIBLE_DEVICES`` names them; None: all.
    """
    described = _asked("-q", "-x")
    with suppress(ElementTree.ParseError):
        document = ElementTree.fromstring(described)  # noqa: S314  of the driver's own program
        slices: list[str] = []
        if "<mig_device>" in described:
            slices = _NAMES_OF_SLICES.findall(_asked("-L"))
        gpus = [gpu for gpu in _gpus(document, slices) if _is_left(gpu, left)]
        return Look(gpus, tuple(map(_process, document.iter("process_info"))))
    return _NOTHING


def noted(gpus: Sequence[FoundGpu], before: Sequence[SeenGpus], held: Collection[str]) -> SeenGpus:
    """Return what a worker says of its GPUs.

    What is used of one that no task has or had lately (``held``) is of other programs; of another
    it is what it was ``before``.
    """
    known = {one.id: one.foreign for told in before for one in told.seen}
    seen = []
    for gpu in gpus:
        foreign = known.get(gpu.id, 0) if gpu.id in held else gpu.used
        seen.append(SeenGpu(gpu.id, gpu.name, gpu.memory, gpu.used, foreign))
    return SeenGpus(seen)


class GpuWatch:
    """The GPUs of which a worker gives shares; by default none."""

    def __init__(self, latest: Look = _NOTHING, left: str | None = None):
        """``latest``, ``left``: what ``look`` returned, and was told."""
        self.latest = latest
        self._left = left
        self._peaks: Counter[str] = Counter()
        self._stopped = threading.Event()

    @classmethod
    def of_this_process(cls) -> "GpuWatch":
        """Return those that this process was left; its children see none until they are told."""
        left = os.environ.get(gpu_share.VISIBLE)
        seen = look(left)
        if seen.gpus:
            os.environ[gpu_share.VISIBLE] = ""
        return cls(seen, left)

    def start(self) -> None:
        """Look again and again where there are any, in a thread of its own."""
        if self.latest.gpus:
            threading.Thread(target=self._watch, name="gpus", daemon=True).start()

    def share(self, attempt: Attempt) -> GpuShare | None:
        """Return what an attempt has of a GPU."""
        for gpu in self.latest.gpus:
            if gpu.id == attempt.gpu:
                return GpuShare(
                    id=gpu.id,
                    number=gpu.number,
                    memory=attempt.gpu_memory,
                    whole=gpu.memory,
                    holder=attempt.id,
                )
        return None

    def with_peak(self, attempt: Attempt, result: TaskResult) -> TaskResult:
        """Return a result that says the most that the attempt was seen to have, and forget it."""
        seen = self._peaks.pop(attempt.id, 0)
        return result.model_copy(update={"gpu_memory": max(seen, result.gpu_memory)})

    def stop(self) -> None:
        """Look no more."""
        self._stopped.set()

    def _watch(self) -> None:
        while not self._stopped.wait(_EVERY):
            seen = look(self._left)
            if seen.gpus:  # a driver that is silent for once has not lost its GPUs
                self.latest = seen
            self._peaks |= by_holder(seen.processes)  # the larger of both


def by_holder(processes: Sequence[tuple[int, int]], proc: Path = Path("/proc")) -> Counter[str]:
    """Return the bytes of a GPU that programs of attempts have, by the id of the attempt.

    A program says whose it is by its environment.
    """
    found: Counter[str] = Counter()
    for pid, memory in processes:
        with suppress(OSError):  # it has ended, or is somebody else's
            environment = (proc / str(pid) / "environ").read_bytes()
            holders = map(bytes.decode, _HOLDER.findall(environment))
            found.update(dict.fromkeys(holders, memory))
    return found


def _asked(*options: str) -> str:
    try:
        return subprocess.run(
            [_PROGRAM, *options], capture_output=True, text=True, timeout=_PATIENCE, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return ""


def _gpus(document: ElementTree.Element, slices: list[str]) -> Iterator[FoundGpu]:
    """Give the GPUs, or their slices where they are cut into some."""
    names = iter(slices)
    for number, gpu in enumerate(document.iter("gpu")):
        title = gpu.findtext("product_name", "GPU")
        for part, id in zip(gpu.iter("mig_device"), names, strict=False):
            place = f"{number}:{part.findtext('index', '0').strip()}"
            yield _found(part, id, place, f"{title} (slice)")
        if gpu.findtext("mig_mode/current_mig", "").strip() != "Enabled":
            yield _found(gpu, gpu.findtext("uuid", "").strip(), str(number), title)


def _found(element: ElementTree.Element, id: str, number: str, name: str) -> FoundGpu:
    memory = partial(_bytes, element)
    usable = memory("fb_memory_usage/total") - memory("fb_memory_usage/reserved")  # by the driver
    return FoundGpu(id, number, name, usable, memory("fb_memory_usage/used"))


def _process(element: ElementTree.Element) -> tuple[int, int]:
    return int(element.findtext("pid", "0")), _bytes(element, "used_memory")


def _bytes(element: ElementTree.Element, place: str) -> int:
    """Return what a driver says in MiB, in bytes; 0 where it says nothing of it."""
    said = _MEMORY.match(element.findtext(place, ""))
    if said is None:
        return 0
    return int(said[1]) * 2**20


def _is_left(gpu: FoundGpu, left: str | None) -> bool:
    if left is None:
        return gpu.memory > 0
    names = list(filter(None, left.split(",")))
    return gpu.number in names or gpu.id.startswith(tuple(names))
