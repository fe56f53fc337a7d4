"""Compiled kernels of other sessions, so that a second clone, or CI's next run, need not compile
them.

Numba keeps what it compiled beside each source, and looks only whether that one file has changed.
Here it is kept by the digest of all sources of the package: a kernel that calls one of a changed
file is compiled anew. Below the user's cache folder, so that nothing of it is in the repository.
"""

import hashlib
import os
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "src" / "easeml" / "lifecycle"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "easeml-kernels"
COMPILED = "*.nb[ic]"
STAMP = "kernels.digest"  # of the sources that the kernels beside it belong to
KEPT = 5  # versions of the kernels of each package


def restore_kernels(sources: Path = SOURCES, cache: Path = CACHE) -> None:
    """Put beside the sources of each package what was compiled from the very same, and only that."""
    for package in _packages(sources):
        beside = package / "__pycache__"
        digest = _digest(package)
        stamp = beside / STAMP
        if stamp.exists() and stamp.read_text() == digest:
            continue
        for file in beside.glob(COMPILED):
            file.unlink()
        kept = cache / package.name / digest
        if kept.is_dir():
            shutil.copytree(kept, beside, dirs_exist_ok=True)
        beside.mkdir(exist_ok=True)
        stamp.write_text(digest)


def keep_kernels(sources: Path = SOURCES, cache: Path = CACHE) -> None:
    """Keep what lies beside the sources, if that is more than what is kept of them."""
    for package in _packages(sources):
        compiled = list((package / "__pycache__").glob(COMPILED))
        kept = cache / package.name / _digest(package)
        known = list(kept.glob("*")) if kept.is_dir() else []
        if len(compiled) <= len(known):
            continue
        kept.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=kept.parent))
        for file in compiled:
            shutil.copy2(file, made)
        shutil.rmtree(kept, ignore_errors=True)
        made.replace(kept)
        _drop_oldest(kept.parent)


def _packages(sources: Path) -> list[Path]:
    return sorted(path.parent for path in sources.glob("*/__init__.py"))


def _digest(package: Path) -> str:
    """Return what the kernels of a package depend on, but for the processor: Numba knows that."""
    digest = hashlib.sha256()
    digest.update(f"{sys.version_info[:2]} {version('numba')} {version('numpy')}".encode())
    for path in sorted(package.rglob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _drop_oldest(folder: Path) -> None:
    versions = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in versions[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
