"""The facts that lifecycle tools need, from the files of a task."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.kinds.shared.embeddings import representations
from easeml.kinds.shared.readable import readable
from easeml.kinds.shared.row_weights import weights_of
from easeml.schema import Schema

if TYPE_CHECKING:
    from easeml.data import Declared
    from easeml.lifecycle.held_out import DrawnRows, Explained, LateRows, Predicted, Unseen
    from easeml.lifecycle.tool import Fact, Tool


_FOLDS = 5
_ROLES = {"t": "truth", "a": "again", "o": "other"}
_NEAR = ("train", "pool")  # facts in which rows near others are looked for
_EXPLAINING = 1_000  # rows that are predicted to explain one


@dataclass(frozen=True, slots=True)
class Sources:
    """What facts are made of: a version, the folder of a model, and the objective's name.

    ``models``: folders of the models whose predictions are compared, by name. ``newer``: a file of
    rows that came later, and its name. ``late``: a file of those among them that were looked at
    before, and ``looks``: how many of its rows each look saw, by its number, in their order, and
    ``roles``: a letter a row, the first of its role in ``LateRows``; empty where all have the
    first. ``elsewhere``: nats that other tools told of test rows. ``embeddings``: folder of the
    provider's pre-trained models.
    """

    version: Declared
    model: Path
    objective: str
    models: Mapping[str, Path] = field(default_factory=dict)
    newer: tuple[Path, str] | None = None
    late: tuple[Path, str] | None = None
    looks: Mapping[str, int] = field(default_factory=dict)
    roles: str = ""
    elsewhere: float = 0.0
    embeddings: Path | None = None

    @property
    def forecasts(self) -> bool:
        """Whether the model in question forecasts."""
        from easeml.modules.ensemble import load_model

        return self.model.exists() and load_model(self.model).past is not None


def facts_of(tool: Tool, sources: Sources) -> dict[Fact, Any]:
    """Return what ``tool`` needs, and what it may use of the model where there is one."""
    rows = _rows(tool, sources.version)
    wanted: list[Any] = [fact for fact in tool.needs if fact != "newer"]
    if sources.model.exists():
        wanted += list(filter(MAKERS.__contains__, tool.may))
    return {fact: MAKERS[fact](sources, rows) for fact in wanted if _is_told(fact, sources)}


def _is_told(fact: Fact, sources: Sources) -> bool:
    """Tell whether a tool is given a fact: of a forecast, rows alone do not tell what is near them,
    so nothing is looked for among those that it learned from.
    """
    return fact not in _NEAR or not sources.forecasts


def values_of(sources: Sources, facts: dict[Fact, Any]) -> list[str]:
    """Put into ``facts`` what tools see that look at values themselves; return notes.

    Numbers stand in place of pictures, series and graphs. Pre-trained models see the pictures and
    texts beside.
    """
    frame = facts["inputs"]
    notes: list[str] = []
    if sources.embeddings is not None:
        found, notes = representations(sources.version, frame, sources.embeddings)
        facts["representations"] = found
    facts["inputs"] = readable(sources.version, frame)
    return [*notes, *_order_notes(str(sources.version.summary.get("split", "")))]


def _order_notes(split: str) -> list[str]:
    """What is said where rows are tested that differ from those that a tool mixes."""
    way, _, column = split.partition(":")
    kinds = {"time": f"the latest by '{column}'", "group": f"those of other groups of '{column}'"}
    if way not in kinds:
        return []
    note = (
        "This looks at rows as if each were drawn on its own, but test rows are "
        f"{kinds[way]}: models may reach less there."
    )
    return [note]


def newer_rows(sources: Sources) -> tuple[Predicted, list[str]]:
    """Return the rows that came later, as the models say, and what was unusual about the file.

    Raises ``DatasetError`` for a file that does not fit the data of the application.
    """
    assert sources.newer is not None
    return _read_newer(sources, sources.newer)


def late_rows(sources: Sources) -> tuple[LateRows, list[str]]:
    """Return the rows whose answers came after a look at them, and what was unusual.

    Raises ``DatasetError`` for a file that does not fit the data of the application.
    """
    import numpy as np

    from easeml.lifecycle.held_out import LateRows

    assert sources.late is not None
    rows, notes = _read_newer(sources, sources.late)
    looks = sorted((int(look), count) for look, count in sources.looks.items())
    numbers, counts = zip(*looks, strict=True)
    roles = np.array([_ROLES[letter] for letter in sources.roles]) if sources.roles else None
    return LateRows(rows, np.repeat(numbers, counts), roles), notes


def drawn_rows(claims: Sequence[Mapping[str, Any]]) -> list[DrawnRows]:
    """Return which rows were said to be drawn at random, as a task was told it."""
    import numpy as np

    from easeml.lifecycle.held_out import DrawnRows

    found = []
    for one in claims:
        places = (np.array(one[name], dtype=np.int64) for name in ("newer", "late"))
        found.append(DrawnRows(one["by"], *places))
    return found


def without_rows(rows: Predicted) -> Predicted:
    """Return what a file of newer rows is that has none, with the columns of ``rows``."""
    from easeml.lifecycle.held_out import Predicted

    none = {}
    for name, said in rows.by.items():
        chances = None if said.chances is None else said.chances[:0]
        none[name] = replace(said, values=said.values[:0], chances=chances)
    return Predicted(rows.inputs.iloc[:0], rows.answers.iloc[:0], none)


def _read_newer(sources: Sources, file: tuple[Path, str]) -> tuple[Predicted, list[str]]:
    import pandas as pd

    from easeml.data import read_newer, read_table
    from easeml.lifecycle.held_out import Predicted

    version = sources.version
    table = read_table(*file)
    # An endpoint answers rows with gaps if it is told to, and these are kept like the others.
    rows = read_newer(table, _asked_schema(sources), version.schema_out, fills=True)
    answers = rows.answers
    if answers is None:
        answers = pd.Series([None] * len(rows.inputs), dtype=object, name=version.target)
    return Predicted(rows.inputs, answers, _by_models(sources, rows.inputs)), rows.notes


def _rows(tool: Tool, version: Declared) -> Any:
    """Return the rows that a tool sees, named by their ids."""
    import pandas as pd

    train, validation = version.frames["train"], version.frames["validation"]
    if tool.rows == "train":
        rows = train
    elif tool.rows == "validation":
        rows = validation
    else:
        on = train[~train["_row"].isin(version.off)]
        rows = pd.concat(list(filter(len, (on, validation))))
    return rows.set_index("_row")


def _inputs(sources: Sources, rows: Any) -> Any:
    from easeml.data import kinds_of

    unasked = kinds_of(sources.version.schema_in).keys() - kinds_of(_asked_schema(sources))
    return rows.drop(columns=[sources.version.target, *unasked])


def _asked_schema(sources: Sources) -> Schema:
    """Return the schema of rows that the model is asked about: those of a forecast lack columns
    that are not known ahead.
    """
    from easeml.modules.ensemble import load_model

    if not sources.forecasts:
        return sources.version.schema_in
    return Schema.from_json(load_model(sources.model).schema_in)


def _answers(sources: Sources, rows: Any) -> Any:
    return rows[sources.version.target]


def _predict(sources: Sources, rows: Any) -> Callable[[Any], Any]:
    from easeml.modules.ensemble import load_model

    return load_model(sources.model).predict


def _explain(sources: Sources, rows: Any) -> Callable[[Any], list[Explained]]:
    from easeml.modules.ensemble import load_model

    return partial(_explained, load_model(sources.model))


def _explained(trained: Any, frame: Any) -> list[Explained]:
    """Return what moved the prediction of each row; nothing where that is not told."""
    from easeml.lifecycle.held_out import Explained
    from easeml.modules import explaining

    predicted = trained.predict(frame)
    if explaining.why_not(frame.shape[1], predicted):
        return []
    told = explaining.attributions(trained, frame, predicted, _EXPLAINING)
    found = []
    for value, one in zip(predicted.values, told, strict=True):
        by_column = {column["column"]: column["value"] for column in one["columns"]}
        found.append(Explained(value, one["of"], by_column))
    return found


def _predictions(sources: Sources, rows: Any) -> Unseen:
    from easeml.modules.ensemble import load_model

    return _said(load_model(sources.model).predict(_inputs(sources, rows)))


def _rivals(sources: Sources, rows: Any) -> dict[str, Callable[[Any], Any]]:
    from easeml.modules.ensemble import load_model

    return {name: load_model(folder).predict for name, folder in sources.models.items()}


def _train(sources: Sources, rows: Any) -> Predicted:
    """Return the rows that models learn from."""
    from easeml.lifecycle.held_out import Predicted

    version = sources.version
    train = version.frames["train"]
    on = train[~train["_row"].isin(version.off)].set_index("_row")
    return Predicted(_inputs(sources, on), _answers(sources, on), {})


def _pool(sources: Sources, rows: Any) -> Any:
    """Return the inputs of the rows that people may be asked for: those that test no model."""
    from easeml.data import ROW, is_reserved

    version = sources.version
    none: Any = version.frames["train"].iloc[:0]
    pool: Any = version.frames.get("pool", none)
    asked = pool[~is_reserved(pool[ROW].to_numpy())].set_index(ROW)
    return _inputs(sources, asked)


def _test(sources: Sources, rows: Any) -> Predicted:
    """Return the test rows, for tools that keep a ledger of what they tell of them."""
    from easeml.lifecycle.held_out import Predicted

    test = sources.version.frames["test"].set_index("_row")
    inputs = _inputs(sources, test)
    return Predicted(inputs, _answers(sources, test), _by_models(sources, inputs))


def _by_models(sources: Sources, inputs: Any) -> dict[str, Unseen]:
    from easeml.modules.ensemble import load_model

    return {
        name: _said(load_model(folder).predict(inputs)) for name, folder in sources.models.items()
    }


def _said(found: Any) -> Unseen:
    from easeml.lifecycle.held_out import Unseen

    labels = found.labels.choice.names if found.labels else ()
    return Unseen(
        found.values,
        found.probabilities,
        found.classes,
        labels=labels,
        scales=found.scales,
        widths=found.widths,
    )


def _elsewhere(sources: Sources, rows: Any) -> float:
    return sources.elsewhere


def _quality(sources: Sources, rows: Any) -> Callable[[Any, Any], float]:
    from easeml.modules import score

    return partial(score, sources.objective)


def _interval(sources: Sources, rows: Any) -> Callable[[Any, Any], tuple[float, float, float]]:
    from easeml.modules import interval

    return partial(interval, sources.objective)


def _unseen(sources: Sources, rows: Any) -> Any:
    """Predict each row by models like the one that serves, which have not learned from it.

    Rows that are switched off are predicted, and never learned from. Of a forecast, the values
    before its origin are known.
    """
    import numpy as np

    from easeml.lifecycle.held_out import fold_numbers
    from easeml.modules.ensemble import load_model

    version = sources.version
    pipeline = load_model(sources.model).description
    seed = version.summary.get("seed", 0)
    fold = fold_numbers(_codes(rows[version.target]), _FOLDS, seed)
    on = ~rows.index.isin(version.off)
    said, places = [], []
    for number in np.unique(fold):
        held = fold == number
        trained = _fitted(pipeline, version, rows[on & ~held])
        said.append(_said_unseen(trained, rows[held].reset_index()))
        places.append(np.flatnonzero(held))
    return _in_order(said, np.concatenate(places))


def _said_unseen(trained: Any, rows: Any) -> Unseen:
    """Return what a model says of rows; of a forecast, nothing of those without a past."""
    import numpy as np

    said = _said(trained.predict(rows))
    if trained.past is None or said.widths is None:
        return said
    widths = np.where(trained.past.have_past(rows), said.widths, np.inf)
    return replace(said, widths=widths)


def _in_order(parts: Sequence[Unseen], places: Any) -> Unseen:
    """Return what was said of rows in parts, each at its place."""
    import numpy as np

    order = np.argsort(places)
    joined = {}
    for name in ("values", "chances", "widths"):
        found = [getattr(part, name) for part in parts]
        joined[name] = None
        if found[0] is not None:
            joined[name] = np.concatenate(found)[order]
    return replace(parts[0], **joined)


def _fitted(pipeline: dict[str, Any], version: Declared, rows: Any) -> Any:
    from easeml.modules.pipeline import Context, fit

    threads = int(os.environ.get("OMP_NUM_THREADS", "1"))
    weights = weights_of(version, rows.index)
    context = Context(
        seed=version.summary.get("seed", 0),
        threads=threads,
        weights=weights,
        history=_known_rows(version),
    )
    schemas = version.schema_in.to_json(), version.schema_out.to_json()
    return fit(pipeline, rows.reset_index(), *schemas, context)


def _known_rows(version: Declared) -> Any:
    """Return all rows whose values a forecast may know."""
    import pandas as pd

    frames = [version.frames[role] for role in ("train", "validation", "test")]
    rows = pd.concat(frames, ignore_index=True)
    return rows[~rows["_row"].isin(version.off)]


def _codes(answers: Any) -> Any:
    """Return class codes; zeros where the answers are numbers."""
    import numpy as np

    if str(answers.dtype) != "category":
        return np.zeros(len(answers), dtype=np.int64)
    return answers.cat.codes.to_numpy().astype(np.int64)


MAKERS: dict[Fact, Callable[[Sources, Any], Any]] = {
    "inputs": _inputs,
    "answers": _answers,
    "predict": _predict,
    "explain": _explain,
    "predictions": _predictions,
    "rivals": _rivals,
    "train": _train,
    "pool": _pool,
    "test": _test,
    "elsewhere": _elsewhere,
    "quality": _quality,
    "interval": _interval,
    "unseen": _unseen,
}
