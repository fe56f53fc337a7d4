"""What an image of the prototype says of itself, in words of ``module.toml``.

The files that lay in its working folder, ``schema-in.json``, ``schema-out.json`` and
``config-space.json``, lie beside ``module.toml``; they say what ``accepts`` and ``space`` say
elsewhere.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from easeml.errors import InvalidInput
from easeml.schema import Schema, why_not

PLAIN, WITH_METADATA = "prototype", "prototype-metadata"
CONTRACTS = (PLAIN, WITH_METADATA)
"""What ``contract`` may say. Since August 2020 the prototype passed ``--metadata`` to ``train`` and
``predict``, which the images before it refuse.
"""
KINDS = ("model", "objective", "optimizer")
SPACE, INPUT, OUTPUT = "config-space.json", "schema-in.json", "schema-out.json"
_SAMPLE = "Write a schema of the prototype, such as that of class-knn, or accepts in module.toml."
_TARGET_OF = {"model": OUTPUT, "objective": INPUT}  # which schema is of the target
_MEASURE = {"worst": 0.0, "best": 1.0}  # what its contract says of the last line of eval


def is_prototype(document: Mapping[str, Any]) -> bool:
    """Whether a description is of an image of the prototype."""
    return document.get("contract") in CONTRACTS


def completed(
    document: dict[str, Any],
    vectors: Mapping[str, Any],
    targets: Mapping[str, Mapping[str, Any]],
    where: str,
) -> dict[str, Any]:
    """Return a description with what the files beside it say; others come back as they are.

    ``vectors``: the schema of what models are given; ``targets``: of what they learn, by what they
    ``accept``. Raises ``InvalidInput`` for files that cannot be read, or say what no table has.
    """
    files = document.get("files", {})
    if not is_prototype(document) or not isinstance(files, dict):
        return document
    _check(document, where)
    found = dict(document)
    if SPACE in files:
        found["space"] = converted(_read(files, SPACE, where), f"{where}: {SPACE}")
    if document["kind"] == "objective":
        found.setdefault("measure", _MEASURE)
    target = _TARGET_OF.get(document["kind"])
    if "accepts" in document or target is None:
        return found
    if document["kind"] == "model":
        _check_input(files, vectors, where)
    found["accepts"] = _target(files, target, targets, where)
    return found


def _check(document: Mapping[str, Any], where: str) -> None:
    runtime = document.get("runtime")
    if not isinstance(runtime, dict) or runtime.get("kind") != "container":
        raise InvalidInput(
            "What was written for the prototype runs in its image.",
            where=f"{where}: runtime.kind",
            remedy="Write kind = 'container' and image = 'FILE.tar'.",
        )
    if document.get("kind") not in KINDS:
        raise InvalidInput(
            "The prototype had no such kind.", where=where, remedy=f"Kinds: {', '.join(KINDS)}."
        )


def _read(files: Mapping[str, Any], name: str, where: str) -> Any:
    try:
        return json.loads(files.get(name, ""))
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidInput(
            f"{name} is missing, or no JSON.", where=where, remedy=_SAMPLE
        ) from error


def _schema(files: Mapping[str, Any], name: str, where: str) -> Schema:
    try:
        return Schema.from_json(_read(files, name, where))
    except InvalidInput as error:
        place = f"{where}: {name}"
        raise InvalidInput(error.message, where=place, remedy=error.remedy) from error


def _check_input(files: Mapping[str, Any], vectors: Mapping[str, Any], where: str) -> None:
    """Raise unless a model takes vectors of any length, which all tables become."""
    reason = why_not(_schema(files, INPUT, where), Schema.from_json(dict(vectors)))
    if reason:
        raise InvalidInput(
            f"This model does not take vectors of numbers: {reason}",
            where=f"{where}: {INPUT}",
            remedy="Only models of one tensor of rank 1 and of any length run here.",
        )


def _target(
    files: Mapping[str, Any], name: str, targets: Mapping[str, Mapping[str, Any]], where: str
) -> str:
    """Return which target a schema is of."""
    schema = _schema(files, name, where)
    for accepts, target in targets.items():
        if not why_not(schema, Schema.from_json(dict(target))):
            return accepts
    raise InvalidInput(
        "This schema is neither of a category nor of a number.",
        where=f"{where}: {name}",
        remedy="Only modules of one category, or of one tensor with one number, run here.",
    )


def nodes_of(files: Mapping[str, str]) -> tuple[str, str, str]:
    """Return the names of input and target, and of the classes of a category, as the files of a
    description say; usual ones where they do not.
    """
    given = _only_node(files, INPUT)
    target = _only_node(files, OUTPUT) or given
    return given.get("name", "input"), target.get("name", "output"), target.get("class", "label")


def _only_node(files: Mapping[str, str], name: str) -> dict[str, Any]:
    """Return what a schema says of its one node, with its name; nothing where there is no schema."""
    if name not in files:
        return {}
    ((node, said),) = json.loads(files[name])["nodes"].items()
    return {**said, "name": node}


def converted(space: Any, where: str) -> Any:
    """Return a configuration space of the prototype in easeml's language.

    With the scale ``exp`` the bounds are powers of ten, which a logarithmic scale between the two
    numbers means here. Raises ``InvalidInput`` for powers that are no numbers.
    """
    return _changed(space, partial(_without_powers, where))


def _changed(space: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """Return a configuration space with all its mappings changed, the outer ones first."""
    if isinstance(space, list):
        return [_changed(one, change) for one in space]
    if isinstance(space, dict):
        return {key: _changed(value, change) for key, value in change(space).items()}
    return space


def _without_powers(where: str, space: dict[str, Any]) -> dict[str, Any]:
    if space.get(".scale") != "exp":
        return space
    kind = ".int" if ".int" in space else ".float"
    try:
        low, high = (10.0**bound for bound in space[kind])
        bounds = [round(low), round(high)] if kind == ".int" else [low, high]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(
            "The bounds of the scale exp are two powers of ten.", where=where
        ) from error
    return {kind: bounds, ".scale": "log"}


def written(space: Any) -> Any:
    """Return a configuration space of easeml in the prototype's language, which knows no defaults and
    no logarithmic scale of whole numbers.
    """
    return _changed(space, _of_known_words)


def _of_known_words(space: dict[str, Any]) -> dict[str, Any]:
    unknown = {".default", ".scale"} if ".int" in space else {".default"}
    return {key: value for key, value in space.items() if key not in unknown}
