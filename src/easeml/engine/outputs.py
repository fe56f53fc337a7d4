"""What is kept of an attempt once it has ended: its outputs, and what it printed."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from easeml.errors import EasemlError
from easeml.service.tasks import logs, results
from easeml.store import Store

from . import task_main


@dataclass(frozen=True, slots=True)
class Outputs:
    """Digests of what was kept as artefacts of a tenant, and sizes in bytes, both by name."""

    store: Store
    tenant_id: str
    digests: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    def keep_log(self, folder: Path) -> None:
        """Keep the last part of what the attempt printed."""
        self.keep_text(results.LOG, task_main.printed(folder, logs.LARGEST_LOG))

    def keep_text(self, name: str, text: bytes) -> None:
        """Keep what the attempt printed, or noted of itself, if that is anything."""
        if text:
            kept = self.store.artefacts.put_stream(self.tenant_id, [text], len(text))
            self.digests[name], self.sizes[name] = kept

    def keep_files(self, names: Iterable[str], folder: Path) -> None:
        """Keep outputs that the body wrote into a folder.

        Raises ``EasemlError`` for a link, and for one that it did not write.
        """
        if folder.is_symlink():
            raise EasemlError("The body left a link in place of the folder of its outputs.")
        paths = {name: _written(folder, name) for name in names}  # all, before any is kept
        for name, path in paths.items():
            self.digests[name] = self.store.artefacts.put(self.tenant_id, path)
            self.sizes[name] = _size(path)


def _written(folder: Path, name: str) -> Path:
    """Return where an output is. Raises ``EasemlError`` where it is not in the folder itself."""
    path = folder / name
    leads_elsewhere = Path(name).name != name or path.is_symlink()
    if leads_elsewhere or not path.exists():
        raise EasemlError("The body names an output that it did not write.", where=name)
    return path


def _size(path: Path) -> int:
    """Return the bytes of a file, or of all files of a folder."""
    if path.is_file():
        return path.stat().st_size
    files = filter(Path.is_file, path.rglob("*"))
    return sum(file.stat().st_size for file in files)
