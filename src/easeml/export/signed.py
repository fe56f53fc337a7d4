"""Telling whether an exported folder is what was signed."""

import json
from pathlib import Path

from easeml.errors import Damaged
from easeml.export.facts import ModelFacts
from easeml.signing import SIGNATURE, digest_of, signed_digests

MANIFEST = "export.json"


def check_signed(folder: Path, key: str) -> ModelFacts:
    """Return what is told of the model in an exported folder; ``key``: public, as PEM.

    Raises ``Damaged`` where another key has signed it, and where a file differs, lacks or was added.
    """
    path = folder / SIGNATURE
    if not path.is_file():
        raise Damaged("It is not signed.", where=str(folder))
    signed = signed_digests(path.read_bytes(), key)
    there = {}
    for file in folder.rglob("*"):
        if file.is_file() and file != path:
            there[file.relative_to(folder).as_posix()] = digest_of(file.read_bytes())
    for name in sorted(signed.keys() | there.keys()):
        if signed.get(name) != there.get(name):
            raise _differs(name, is_signed=name in signed, is_there=name in there)
    told = json.loads((folder / MANIFEST).read_text())
    return ModelFacts(**told["facts"])


def _differs(name: str, *, is_signed: bool, is_there: bool) -> Damaged:
    if not is_signed:
        remedy = "Remove what is not a part of it; running it makes folders __pycache__."
        return Damaged("This file was not signed.", where=name, remedy=remedy)
    said = "This file was changed." if is_there else "This file lacks."
    return Damaged(said, where=name, remedy="Export the model again.")
