"""The facts that lifecycle tools need, from the files of a task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from easeml.data import Declared
    from easeml.lifecycle.tool import Fact, Tool


@dataclass(frozen=True, slots=True)
class Sources:
    """What facts are made of: a version, the folder of a model, and the objective's name."""

    version: Declared
    model: Path
    objective: str


def facts_of(tool: Tool, sources: Sources) -> dict[Fact, Any]:
    """Return what ``tool`` needs."""
    rows = _rows(tool, sources.version)
    return {fact: MAKERS[fact](sources, rows) for fact in tool.needs}


def _rows(tool: Tool, version: Declared) -> Any:
    """Return the rows that a tool sees; train rows that are switched off are not among them."""
    import pandas as pd

    validation = version.frames["validation"]
    if tool.rows == "validation":
        return validation
    train = version.frames["train"]
    on = train[~train["_row"].isin(version.off)]
    frames = [frame for frame in (on, validation) if len(frame)]
    return pd.concat(frames, ignore_index=True)


def _inputs(sources: Sources, rows: Any) -> Any:
    return rows.drop(columns=["_row", sources.version.target])


def _answers(sources: Sources, rows: Any) -> Any:
    return rows[sources.version.target]


def _predict(sources: Sources, rows: Any) -> Callable[[Any], Any]:
    from easeml.modules.pipeline import load_trained

    return load_trained(sources.model).predict


def _quality(sources: Sources, rows: Any) -> Callable[[Any, Any], float]:
    from easeml.modules import score

    return partial(score, sources.objective)


MAKERS: dict[Fact, Callable[[Sources, Any], Any]] = {
    "inputs": _inputs,
    "answers": _answers,
    "predict": _predict,
    "quality": _quality,
}
