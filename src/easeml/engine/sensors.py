"""What a machine feels: how warm it is, and what memory it has left. What is not known is None."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PROCESSORS = frozenset({"coretemp", "k10temp", "zenpower", "cpu_thermal", "x86_pkg_temp"})
_LEAST, _MOST = 1.0, 150.0  # degrees Celsius; sensors that are not connected say 0, or -273
_GPU_EVERY = 60.0  # seconds between two questions to the driver of GPUs, each a program of its own
_QUESTION = ("--query-gpu=temperature.gpu", "--format=csv,noheader,nounits")


@dataclass(frozen=True, slots=True)
class Felt:
    """``temperature``: degrees Celsius of the hottest processor, or of the hottest GPU of a worker that
    has one. ``memory``, ``memory_free``: bytes of the machine.
    """

    temperature: float | None
    memory: int | None
    memory_free: int | None


class Sensors:
    """Reads the sensors of this machine."""

    def __init__(
        self, *, gpu: bool = False, system: Path = Path("/sys"), proc: Path = Path("/proc")
    ):
        """``gpu``: GPUs are asked too. ``system``, ``proc``: where the kernel shows itself."""
        self._system = system
        self._proc = proc
        self._program = shutil.which("nvidia-smi") if gpu else None
        self._gpu: float | None = None
        self._asked = -_GPU_EVERY

    def read(self) -> Felt:
        """Return what is felt now; it takes microseconds, but for GPUs once a minute."""
        memory = _memory(self._proc / "meminfo")
        hottest = self._of_gpu()
        if hottest is None:
            hottest = _of_processor(self._system)
        return Felt(hottest, memory.get("MemTotal"), memory.get("MemAvailable"))

    def _of_gpu(self) -> float | None:
        if self._program is None:
            return None
        now = time.monotonic()
        if now - self._asked >= _GPU_EVERY:
            self._asked = now
            self._gpu = _asked_driver(self._program)
        return self._gpu


def _asked_driver(program: str) -> float | None:
    try:
        said = subprocess.run(
            [program, *_QUESTION], capture_output=True, text=True, timeout=5.0, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return max(_degrees(said.split()), default=None)


def _of_processor(system: Path) -> float | None:
    """Return the temperature of the processor; where none says that it is one, of the hottest zone."""
    found: dict[bool, list[float]] = {True: [], False: []}
    for name, places in _sensors(system):
        texts = []
        for place in places:
            with suppress(OSError):
                texts.append(place.read_text())
        found[name in _PROCESSORS] += _degrees(texts, scale=1000)
    hottest = found[True] or found[False]
    return max(hottest, default=None)


def _sensors(system: Path) -> Iterator[tuple[str, list[Path]]]:
    """Give the names of sensors, and the files with their temperatures in thousandths of a degree."""
    for folder in sorted(system.glob("class/hwmon/hwmon*")):
        name = _text(folder / "name")
        if name in _PROCESSORS:  # the others are disks, batteries, cards
            yield name, sorted(folder.glob("temp*_input"))
    for folder in sorted(system.glob("class/thermal/thermal_zone*")):
        yield _text(folder / "type"), [folder / "temp"]


def _text(place: Path) -> str:
    with suppress(OSError):
        return place.read_text().strip()
    return ""


def _degrees(texts: list[str], scale: int = 1) -> list[float]:
    """Return the temperatures among texts that are usual."""
    found = []
    for text in texts:
        with suppress(ValueError):
            degrees = float(text) / scale
            if _LEAST <= degrees <= _MOST:
                found.append(degrees)
    return found


def memory_of_machine(proc: Path = Path("/proc"), system: Path = Path("/sys")) -> int | None:
    """Return the bytes of memory of this machine, or of the container that this process is in.

    None where the kernel does not say.
    """
    whole = _memory(proc / "meminfo").get("MemTotal")
    limit = _text(system / "fs" / "cgroup" / "memory.max")  # of a control group, version 2
    if not limit.isdigit():
        return whole
    return min(int(limit), whole or int(limit))


def _memory(place: Path) -> dict[str, int]:
    """Return the numbers of ``/proc/meminfo`` in bytes."""
    found = {}
    for line in _text(place).splitlines():
        name, _, said = line.partition(":")
        number = said.split()[:1]
        if number and number[0].isdigit():
            found[name] = int(number[0]) * 1024
    return found
