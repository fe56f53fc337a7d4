"""Further versions of easeml beside this one, each as an environment of its own would have it."""

import sys
import sysconfig
from pathlib import Path

import easeml

SOURCES = Path(easeml.__file__).parent


def install(folder: Path, version: str, **files: str) -> Path:
    """Put a version into an environment, and return its Python.

    ``files``: texts of files that it has otherwise or beside, by their path with ``__`` for ``/``
    and without ``.py``.
    """
    texts = {Path("version.py"): f'"""Of a test."""\n\n__version__ = "{version}"\n'}
    texts |= {Path(f"{name.replace('__', '/')}.py"): text for name, text in files.items()}
    _lay_out(SOURCES, folder / "src" / "easeml", texts)
    lib = folder / "lib" / "python{}.{}".format(*sys.version_info) / "site-packages"
    lib.mkdir(parents=True)
    libraries = sysconfig.get_paths()["purelib"]
    (lib / "version.pth").write_text(f"{folder / 'src'}\n{libraries}\n")
    base = Path(sys._base_executable)  # type: ignore[attr-defined]
    (folder / "pyvenv.cfg").write_text(f"home = {base.parent}\n")
    python = folder / "bin" / "python"
    python.parent.mkdir()
    python.symlink_to(base)
    return python


def _lay_out(source: Path, target: Path, texts: dict[Path, str]) -> None:
    """Link all files of a folder, but those that have other texts."""
    target.mkdir(parents=True)
    for path in source.iterdir():
        name = Path(path.name)
        below = {of.relative_to(name): text for of, text in texts.items() if name in of.parents}
        if below:
            _lay_out(path, target / name, below)
        elif name not in texts and path.name != "__pycache__":
            (target / name).symlink_to(path)
    for of, text in texts.items():
        if len(of.parts) == 1:
            (target / of).write_text(text)
