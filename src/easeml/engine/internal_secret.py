"""The secret that controllers and predictor of one machine share, and how it is changed.

The first line of the file is the secret; each other one that was before, with a space and the time
(seconds of the epoch) until which it still opens the door.
"""

import hmac
import os
import secrets
import time
from pathlib import Path

NAME = "internal.secret"
OVERLAP = 60.0  # seconds; the file is read whenever a connection is opened


def make(home: Path) -> None:
    """Make the secret of a home, readable by its owner only; an existing one stays."""
    path = home / NAME
    if not path.exists():
        _write(path, [secrets.token_urlsafe(32)])


def rotate(home: Path, overlap: float = OVERLAP) -> None:
    """Put a new secret in the place of the one of a home; easeml may run.

    ``overlap``: seconds for which the old one is accepted, 0: not at all. Connections that are open
    stay. Killed half-way, the old one is in force.
    """
    path = home / NAME
    old = current(home)
    _write(path, [secrets.token_urlsafe(32), f"{old} {time.time() + overlap}"])


def current(home: Path) -> str:
    """Return the secret of a home."""
    return (home / NAME).read_text().splitlines()[0].strip()


def is_accepted(home: Path, shown: str) -> bool:
    """Tell whether somebody shows the secret, or one that was replaced just now."""
    first, *older = (home / NAME).read_text().splitlines()
    accepted = [first.strip()]
    for line in older:
        secret, _, until = line.partition(" ")
        if time.time() < float(until):
            accepted.append(secret)
    # All are compared, so that the time tells nothing.
    same = [hmac.compare_digest(shown.encode(), one.encode()) for one in accepted]
    return any(same)


def _write(path: Path, lines: list[str]) -> None:
    partial = path.with_suffix(".part")
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write("\n".join(lines))
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
