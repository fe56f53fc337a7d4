"""The parts of a ledger as JSON, of this version and of the one before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from easeml.errors import InvalidInput
from easeml.lifecycle.ci.config import read_config
from easeml.lifecycle.ci.steps import Spent, Step
from easeml.lifecycle.test_sets import unpacked

VERSION = 2


def ledger_fields(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the ledger that a document holds.

    Raises:
        InvalidInput: if the document is of another version, or is no ledger.
    """
    try:
        return _fields(_upgraded(document))
    except InvalidInput:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(
            f"This is not a ledger of a test set ({error}).", where="ledger"
        ) from error


def _fields(document: Mapping[str, Any]) -> dict[str, Any]:
    given = {key: value for key, value in document["config"].items() if value is not None}
    return {
        "config": read_config(given),
        "examples": int(document["examples"]),
        "test_set": str(document["test_set"]),
        "known_first": str(document["known_first"]),
        "shared": bool(document["shared"]),
        "answers": int(document["answers"]),
        "history": tuple(Step(**step) for step in document["history"]),
        "retired": tuple(document["retired"]),
        "seed": int(document["seed"]),
        "spent": Spent(**document["spent"]),
    }


def _upgraded(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a ledger's document as this version writes it.

    Raises:
        InvalidInput: if it is of another version, or of the first with a part of the labels: that
            version took what was labelled first, so whoever labelled chose what a step saw.
    """
    version = document["version"]
    if version == VERSION:
        return document
    if version != 1:
        raise InvalidInput(f"The ledger is of version {version}, not {VERSION}.")
    known = unpacked(document["known_first"], int(document["examples"]))
    partly_labelled = bool(known.any()) and not bool(known.all())
    if partly_labelled:
        raise InvalidInput(
            "The ledger is of a version that began with the labelled examples, "
            "which proves nothing.",
            where="ledger",
            remedy="Bring a new test set with --new-test-set.",
        )
    seed = document["config"].get("seed")
    return {**document, "seed": seed or 0, "spent": {}}
