"""Images written for the contract of ease.ml's prototype: a model and an optimizer in Python, an
objective in shell, and one that does everything wrong.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import container_images
import session_files
from easeml.modules.containers import trial

PROGRAMS = Path(__file__).parent / "prototype_programs"
FOLDER = "app"
_IN_PYTHON = (
    *("train", "predict", "suggest", "folders.py", "README.md"),
    *("schema-in.json", "schema-out.json", "config-space.yml"),
)
HOSTILE = {
    "train": "[ $# = 8 ] || exit 3\nread -r line < $4\ncase $line in *5*) exit 9;; esac\n",
    "predict": "mkdir $6/output $6/output/000000\nln -s $6/../data/input/000000/features.ten.npy "
    "$6/output/000000/label.cat.txt\nln -s / $6/output/000001\n",
    "eval": "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done\n",
    "suggest": "sleep 60\n",
}


@cache
def in_python() -> Path:
    """Return the tar file of an image of a model, which is an optimizer as well."""
    files = {name: (PROGRAMS / name).read_bytes() for name in _IN_PYTHON}
    python = container_images.python_files()
    return _write(files, python, container_images.PYTHON, container_images.VARIABLES)


@cache
def in_shell() -> Path:
    """Return the tar file of an image of an objective."""
    files = {"eval": PROGRAMS / "eval", "schema-in.json": PROGRAMS / "schema-out.json"}
    contents = {name: path.read_bytes() for name, path in files.items()}
    shell = container_images.shell_files(("sh", "awk"))
    return _write(contents, shell, "/bin/sh", container_images.OF_SHELL)


@cache
def hostile() -> Path:
    """Return the tar file of an image whose ``train`` refuses what its space holds, whose
    ``predict`` leaves links, whose ``eval`` prints for ever and whose ``suggest`` hangs.
    """
    files = {name: text.encode() for name, text in HOSTILE.items()}
    shell = container_images.shell_files(("sh", "mkdir", "ln", "sleep"))
    return _write(files, shell, "/bin/sh", container_images.OF_SHELL)


def image(kind: str) -> Path:
    """Return the tar file of a good image of a kind of module."""
    return in_shell() if kind == "objective" else in_python()


def _write(
    files: Mapping[str, bytes],
    others: Mapping[str, bytes],
    entry: str,
    variables: Mapping[str, str],
) -> Path:
    path = session_files.new_folder() / "image.tar"
    placed = {f"{FOLDER}/{name}": content for name, content in files.items()}
    folder = f"/{FOLDER}"
    trial.write_image(path, {**others, **placed}, variables, entry=[entry], folder=folder)
    return path
