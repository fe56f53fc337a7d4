"""What a folder of results holds, as people call it: names, contexts and tags of steps.

Beside a result lies a file for each step that gave it. Both go together when there is no room.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from easeml.lineage.fingerprints import digest_of
from easeml.lineage.steps import Step

_ENDING = ".named"


@dataclass(frozen=True)
class Output:
    """A result that is there, as one step calls it.

    ``digest``: the key of the step; ``made``: when, in seconds of the epoch; ``size``: bytes;
    ``summary``: what came out, in few words, empty where nobody said.
    """

    name: str
    flow: str
    context: str
    tags: tuple[str, ...]
    digest: str
    made: float
    size: int
    summary: str = ""


class Outputs:
    """The outputs in a folder of results, which several processes may share."""

    def __init__(self, folder: str | Path):
        self._folder = Path(folder)

    def note(self, key: str, flow: str, step: Step, summary: str = "") -> None:
        """Note how a step of a flow calls a result, and what came out.

        When it was made, and a summary where there is no newer one, stay as they are.
        """
        path = self._note_of(key, flow, step)
        files = self._files_of(key)
        if not files:
            return
        known = _read(path)
        told: dict[str, Any] = {
            "name": step.name,
            "flow": flow,
            "context": step.context,
            "tags": list(step.tags),
            "made": known.get("made", files[0].stat().st_mtime),
            "summary": summary or known.get("summary", ""),
        }
        if told == known:
            return
        part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        part.write_text(json.dumps(told), "utf-8")
        part.replace(path)

    def summary(self, key: str, flow: str, step: Step) -> str:
        """Return what came out of a step when it was computed; empty where that is not known."""
        return _read(self._note_of(key, flow, step)).get("summary", "")

    def listed(self) -> list[Output]:
        """Return what is there, the newest first."""
        found = []
        for path in self._folder.glob(f"[0-9a-f]*{_ENDING}"):
            key = path.name.partition(".")[0]
            told = _read(path)
            files = self._files_of(key)
            if told and files:
                told["tags"] = tuple(told["tags"])
                size = sum(map(_size, files))
                found.append(Output(**told, digest=key, size=size))
        return sorted(found, key=lambda each: (each.made, each.name), reverse=True)

    def _note_of(self, key: str, flow: str, step: Step) -> Path:
        return self._folder / f"{key}.{digest_of(flow, step.name)[:16]}{_ENDING}"

    def _files_of(self, key: str) -> list[Path]:
        """Return the files of a result; none where it was thrown away."""
        kinds = (".parquet", ".json", ".candidates.parquet")
        paths = [self._folder / f"{key}{kind}" for kind in kinds]
        return list(filter(Path.exists, paths))


def _read(path: Path) -> dict[str, Any]:
    """Return what a file says of a result; nothing where it cannot be read."""
    try:
        told = json.loads(path.read_text("utf-8"))
        Output(**told, digest="", size=0)
    except (OSError, ValueError, TypeError):
        return {}
    return told


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # another process made room just now
        return 0
