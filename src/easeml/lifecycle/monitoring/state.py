"""A monitor as bytes and back: arrays and JSON in an npz archive, nothing that could run."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import asdict
from datetime import date
from math import inf
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.monitoring.alerts import AlertRules
from easeml.lifecycle.monitoring.backtest import Trust
from easeml.lifecycle.monitoring.cohorts import MOST, Cohort, CohortTest
from easeml.lifecycle.monitoring.drawn import DrawnTest
from easeml.lifecycle.monitoring.estimators import Calibration, Reference
from easeml.lifecycle.monitoring.features import Encoder
from easeml.lifecycle.monitoring.forest import Forest
from easeml.lifecycle.monitoring.monitor import Monitor
from easeml.lifecycle.monitoring.priors import ByClass
from easeml.lifecycle.monitoring.rows import feature_names
from easeml.lifecycle.monitoring.sequential import ConceptTest
from easeml.lifecycle.monitoring.tracking import UNTOLD, Offset
from easeml.optional import if_known

VERSION = 3
LARGEST = 2 << 30  # bytes after decompression
KNOWN_FIELDS = ("truth", "signs", "cuts")
NEARLY = 1e-6
TREE_FIELDS = ("roots", "feature", "threshold", "left", "right", "value")


def save(monitor: Monitor) -> bytes:
    """Return the monitor as an npz archive.

    It holds the encoded reference rows, so keep it as private as they are.
    """
    calibration = monitor.reference.calibration
    head: dict[str, Any] = {
        "version": VERSION,
        "task": monitor.task,
        "tolerance": monitor.tolerance,
        "encoder": monitor.encoder.to_json(),
        "classes": list(monitor.classes),
        "width": monitor.width,
        "trust": asdict(monitor.trust),
        "rules": asdict(monitor.rules),
        "offset": asdict(monitor.offset),
        "batches": monitor.batches,
        "seen": monitor.seen,
        "concept": asdict(monitor.concept),
        "cohorts": asdict(monitor.cohorts),
        "drawn": asdict(monitor.drawn),
        "answered": monitor.answered,
        "unlabelled": monitor.unlabelled,
        "labelled_day": if_known(monitor.labelled_day, str),
        "maps": None if calibration is None else len(calibration.scores),
    }
    arrays = {f"forest_{name}": getattr(monitor.reference.forest, name) for name in TREE_FIELDS}
    if calibration is not None:
        for number, (x, y) in enumerate(zip(calibration.scores, calibration.chances, strict=True)):
            arrays |= {f"scores_{number}": x, f"chances_{number}": y}
    if monitor.known is not None:
        arrays |= {f"known_{name}": getattr(monitor.known, name) for name in KNOWN_FIELDS}
    arrays |= {
        "features": monitor.reference.features,
        "right": monitor.reference.right,
        "expected": monitor.reference.expected,
        "predictions": monitor.predictions,
        "head": np.frombuffer(json.dumps(head).encode(), dtype=np.uint8),
    }
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def load(data: bytes) -> Monitor:
    """Return the monitor that `save` made; what does not fit is refused.

    Nothing in the bytes is executed.

    Raises:
        InvalidInput: if they are no monitor of this version.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > LARGEST:
                raise InvalidInput("The monitor unpacks to more than 2 GiB.")
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        return _monitor(json.loads(arrays["head"].tobytes()), arrays)
    except InvalidInput:
        raise
    except Exception as error:  # a hostile archive may fail in many ways; all mean the same
        raise InvalidInput(
            "This is not the file of a monitor.", remedy="Make one with `easeml monitor fit`."
        ) from error


def _monitor(head: dict[str, Any], arrays: dict[str, np.ndarray]) -> Monitor:
    if head["version"] != VERSION:
        raise InvalidInput(
            f"The monitor has version {head['version']}; this easeml reads {VERSION}."
        )
    features = _numbers(arrays["features"], 2)
    rows, width = features.shape
    forest = _forest(arrays, width)
    calibration = _calibration(head, arrays)
    right = _numbers(arrays["right"], 1)
    expected = _numbers(arrays["expected"], 1)
    predictions = _numbers(arrays["predictions"], 1, whole=head["task"] == "classification")
    fits = len(right) == len(expected) == len(predictions) == rows
    if not fits or head["task"] not in {"classification", "regression"}:
        raise InvalidInput("The monitor's rows do not fit together.")
    encoder = Encoder.from_json(head["encoder"])
    day = head["labelled_day"]
    return Monitor(
        task=head["task"],
        tolerance=None if head["tolerance"] is None else float(head["tolerance"]),
        encoder=encoder,
        classes=tuple(map(str, head["classes"])),
        width=None if head["width"] is None else int(head["width"]),
        reference=Reference(features, right, expected, forest, calibration),
        predictions=predictions,
        trust=Trust(**head["trust"]),
        rules=AlertRules(**head["rules"]),
        offset=_offset(head["offset"]),
        known=_known(arrays, rows),
        batches=int(head["batches"]),
        seen=int(head["seen"]),
        names=feature_names(encoder, width),
        concept=_concept(head["concept"]),
        unlabelled=int(head["unlabelled"]),
        labelled_day=if_known(day, date.fromisoformat),
        cohorts=_cohorts(head.get("cohorts")),
        answered=_share(head.get("answered", 1.0)),
        drawn=_drawn(head.get("drawn")),
    )


def _forest(arrays: dict[str, np.ndarray], width: int) -> Forest:
    """Return the trees that judge rows of ``width`` features. Raises InvalidInput."""
    parts = {}
    for name in TREE_FIELDS:
        is_whole = name not in {"threshold", "value"}
        parts[name] = _numbers(arrays[f"forest_{name}"], 1, whole=is_whole)
    forest = Forest(**parts)
    forest.check(width)
    return forest


def _known(arrays: dict[str, np.ndarray], rows: int) -> ByClass | None:
    """Return what the model says of each class; None where the state is older than that."""
    if "known_truth" not in arrays:
        return None
    truth = _numbers(arrays["known_truth"], 1, whole=True)
    signs = _numbers(arrays["known_signs"], 2)
    is_dense = np.array_equal(np.unique(truth), np.arange(truth.max(initial=-1) + 1))
    if not (len(truth) == len(signs) == rows and is_dense):
        raise InvalidInput("The monitor's rows do not fit together.")
    return ByClass(truth, signs, _numbers(arrays["known_cuts"], 1))


def _calibration(head: dict[str, Any], arrays: dict[str, np.ndarray]) -> Calibration | None:
    if head["maps"] is None:
        return None

    def maps(name: str) -> tuple[np.ndarray, ...]:
        numbers = range(int(head["maps"]))
        return tuple(_numbers(arrays[f"{name}_{number}"], 1) for number in numbers)

    return Calibration(maps("scores"), maps("chances"))


def _offset(values: dict[str, Any]) -> Offset:
    """Return what labels have shown; a state that is older than leaps says nothing of them."""
    leaps = tuple(map(float, values.get("leaps", UNTOLD)))
    is_whole = len(leaps) == len(UNTOLD) and min(leaps) >= 0 and abs(sum(leaps) - 1) < NEARLY
    if not is_whole:
        raise InvalidInput("The monitor's numbers are damaged.")
    return Offset(**{**values, "leaps": leaps})


def _concept(values: dict[str, Any]) -> ConceptTest:
    return ConceptTest(int(values["labels"]), _stake(values["stake"]), _share(values["aside"]))


def _cohorts(values: dict[str, Any] | None) -> CohortTest:
    """Return which truths came; none where the state is older than that."""
    if values is None:
        return CohortTest()
    cohorts = tuple(map(_cohort, values["cohorts"]))
    if len(cohorts) > MOST:
        raise InvalidInput("The monitor's numbers are damaged.")
    settled = int(values["settled"])
    return CohortTest(cohorts, settled, _stake(values["stake"]), _share(values["aside"]))


def _drawn(values: dict[str, Any] | None) -> DrawnTest:
    """Return what rows drawn at random have shown; nothing where the state is older than that."""
    if values is None:
        return DrawnTest()
    return DrawnTest(int(values["claims"]), _stake(values["stake"]), _share(values["aside"]))


def _cohort(values: dict[str, Any]) -> Cohort:
    look, rows, right, wrong = map(int, map(values.__getitem__, ("look", "rows", "right", "wrong")))
    drawn = int(values.get("drawn", 0))
    if min(look, right, wrong, drawn) < 0 or not 0 < rows >= right + wrong:
        raise InvalidInput("The monitor's numbers are damaged.")
    return Cohort(
        look,
        rows,
        _share(values["base"]),
        _share(values["least"]),
        _share(values["drop"]),
        right,
        wrong,
        used=bool(values["used"]),
        drawn=drawn,
    )


def _stake(value: Any) -> float:
    stake = float(value)
    if not 0 <= stake < inf:
        raise InvalidInput("The monitor's numbers are damaged.")
    return stake


def _share(value: Any) -> float:
    share = float(value)
    if not 0 <= share <= 1:
        raise InvalidInput("The monitor's numbers are damaged.")
    return share


def _numbers(array: np.ndarray, dimensions: int, *, whole: bool = False) -> np.ndarray:
    kind = np.integer if whole else np.number
    is_one = array.ndim == dimensions and np.issubdtype(array.dtype, kind)
    if not is_one or not np.isfinite(array).all():
        raise InvalidInput("The monitor's numbers are damaged.")
    return array
