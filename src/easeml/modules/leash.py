"""How long a fit may go on before it ends with what it has."""

import time
from dataclasses import dataclass, field
from pathlib import Path

END_WITH_WHAT_IS_THERE = "end"
"""The file in a work folder that asks the body to end with what it has."""

_WAITS = Path("/proc/self/schedstat")  # Linux: nanoseconds on a processor, and waiting for one


def waited_seconds() -> float | None:
    """Return how long this process's main thread was ready while others had the processor.

    None where the system does not tell.
    """
    try:
        return int(_WAITS.read_text().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return None


def _own_clock() -> float:
    return time.perf_counter() - (waited_seconds() or 0.0)


@dataclass(frozen=True, slots=True)
class Leash:
    """Seconds of its own that a run may take, counted from when this is made.

    Time in which others have its processor does not count. ``folder``: the work folder, in which a
    file may ask the run to end before.
    """

    seconds: float
    folder: Path | None = None
    began: float = field(default_factory=_own_clock)

    def is_over(self) -> bool:
        """Whether the run has had its seconds, or was asked to end."""
        if self.folder is not None and (self.folder / END_WITH_WHAT_IS_THERE).exists():
            return True
        return _own_clock() - self.began >= self.seconds
