"""Items for people, from a version: what ``lifecycle.work`` proposes, as people read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.data import ROW, is_reserved
from easeml.data.types.pictures import large_url

if TYPE_CHECKING:
    import pandas as pd

    from easeml.data import ColumnReport, Declared
    from easeml.lifecycle.held_out import Unseen
    from easeml.lifecycle.questions import Order
    from easeml.lifecycle.work import Answered, Judging, Proposal, Rows
    from easeml.relation import Relation

RELATION = "rows.parquet"
_OPTIONS = 5
_USUAL = 0.95  # share of the answers that have no more decimals
_COLUMNS = 30
_LONGEST = 200  # characters of a value that is compared or offered
_LONGEST_SHOWN = 4_000  # characters of a cell that helps people to answer
_LOOKED_AT = 20_000  # train rows in which doubtful cells are looked for
_FEWEST = 10  # rows of which doubts can be found
_FEWEST_LEARNED = 2
_ASKED_ABOUT = ("number", "category", "text")


def items_of(
    version: Declared,
    doubts: Relation | None,
    predict: Callable[[Any], Any] | None,
    scores: Path | None,
    answered: Sequence[Mapping[str, Any]],
    names: pd.DataFrame,
    *,
    asks_of_judges: bool = True,
    asks_of_test: bool = False,
) -> tuple[list[dict[str, Any]], Order | None]:
    """Return what to ask, each as ``service.work.finding.Proposed``, and its order that is kept.

    ``doubts``: candidates of cells. ``predict``: of the model that serves. ``scores``: what the
    tool ``label-errors`` said of train rows. ``answered``: what people answered so far, each with
    kind, row, column, the value before, what it was to bring, and whether the version lacks it.
    ``names``: what else people know a row by, as ``names_of_rows`` has it. ``asks_of_judges``: also
    about rows that judge models; not those of a forecast, as the stand-in sees nothing of the past
    and would doubt most of them. ``asks_of_test``: of these also about test rows. The order is None
    where there is too little to learn from, or rows are too wide; no question about rows that judge
    is in it, as no model learns from these.
    """
    from easeml.lifecycle import work

    rows = rows_of(version)
    if len(rows.train) < _FEWEST_LEARNED:
        return [], None
    seed = version.summary.get("seed", 0)
    stand_in = work.StandIn(rows, seed)
    unseen, suspicion = _judged(rows, scores)
    pool = _predicted(version, _asked_pool(version), predict)
    known = frozenset((int(one["row"]), one["column"]) for one in answered)
    found = work.propose(
        rows,
        doubts=doubts,
        pool=pool,
        train=unseen,
        suspicion=suspicion,
        known=known,
        seed=seed,
        stand_in=stand_in,
    )
    before = [_answered(version, one) for one in answered]
    experienced = work.experience(rows, before, seed, stand_in)
    found = work.calibrated(found, experienced)
    proposed = found
    if asks_of_judges:
        judging = _judging_of(version, rows, asks_of_test=asks_of_test)
        said = _predicted(version, _by_id(version, "validation"), predict)
        proposed = [*found, *work.judging_checks(stand_in, judging, said, known)]
    shown = _rows_by_id(version)
    others = shown.drop(rows.train.index)[rows.train.columns]
    matters = work.what_matters(replace(rows, pool=others), proposed)
    decimals = decimals_of(rows.answers)
    items = []
    for one, columns in zip(proposed, matters, strict=True):
        options = one.options
        if one.column == version.target:
            options = as_written(options, decimals, one.given)
        item = replace(one, options=options)
        made = _item(item, shown.loc[item.row].drop(item.column), columns)
        made["question"]["values"] = known_by(names, item.row) | made["question"]["values"]
        items.append(made)
    waiting = [(one["kind"], int(one["row"]), one["column"]) for one in answered if one["waits"]]
    is_told = pool is not None and pool.chances is not None
    order = work.kept_order(stand_in, rows, found, experienced, waiting, told_chances=is_told)
    return items, order


def rows_of(version: Declared) -> Rows:
    """Return the rows of a version as ``lifecycle.work`` takes them: those that are on."""
    from easeml.lifecycle.work import Rows

    train = _by_id(version, "train")
    train = train.loc[~train.index.isin(version.off)]
    train = train.loc[train[version.target].notna()]
    names = [name for name in _plain_columns(version) if name != version.target]
    counted = _by_id(version, "validation")
    return Rows(train[names], train[version.target], _asked_pool(version)[names], counted[names])


def _judging_of(version: Declared, rows: Rows, *, asks_of_test: bool) -> Judging:
    """Return the rows that judge models; test rows only where people may be asked about them."""
    from easeml.lifecycle.work import Judging

    test = _by_id(version, "test")
    if not asks_of_test:
        test = test.iloc[:0]
    answers = _by_id(version, "validation")[version.target]
    return Judging(rows.counted, answers, test[version.target])


def _rows_by_id(version: Declared) -> pd.DataFrame:
    """Return the rows that people are asked about, by id."""
    import pandas as pd

    roles = filter(version.frames.__contains__, ("train", "pool", "validation", "test"))
    return pd.concat([_by_id(version, role) for role in roles])


def _asked_pool(version: Declared) -> pd.DataFrame:
    """Return the rows of the pool whose answers may teach models: those that test none."""
    pool = _by_id(version, "pool")
    return pool.loc[~is_reserved(pool.index.to_numpy())]


def names_of_rows(version: Declared, upload: Path) -> pd.DataFrame:
    """Return, as text and by row id, the columns of an upload that say which thing a row is.

    No model learns from an identifier, so a version has none; but people look a row up by it. Rows
    that joined later have none. ``upload``: nothing is there where the version was made otherwise.
    """
    import pandas as pd

    from easeml import data

    names = [column.name for column in filter(_says_which, version.columns)]
    is_known = upload.exists() and bool(names)
    if not is_known:
        return pd.DataFrame()
    table, _ = data.read_upload(upload)
    found = table.select(names).to_pandas()
    return found.map(text_of)


def _says_which(column: ColumnReport) -> bool:
    """Tell whether a column that no model learns from says which thing a row is."""
    used_as = (column.role, column.nature)
    return used_as == ("drop", "identifier")


def known_by(names: pd.DataFrame, row: int) -> dict[str, str]:
    """Return by what people know a row; nothing where that is not known."""
    if row not in names.index:
        return {}
    cells = names.loc[row]
    return dict(cells)


def doubts_of(version: Declared) -> Relation | None:
    """Return candidates for cells of train and pool rows; None where no column can have any."""
    import pandas as pd

    from easeml.lifecycle.doubts import clean
    from easeml.relation import Relation

    rows = rows_of(version)
    names = [name for name in rows.train if _kind_of(version, str(name)) in _ASKED_ABOUT]
    frame = pd.concat([rows.train[names], rows.pool[names]])
    if not names or len(frame) < _FEWEST:
        return None
    if len(frame) > _LOOKED_AT:
        frame = frame.sample(_LOOKED_AT, random_state=version.summary.get("seed", 0))
    return clean(Relation.from_frame(frame))


def write_doubts(folder: Path, doubts: Relation) -> int:
    """Write a relation, and ``cells.arrow`` for readers; return how many cells there are.

    ``cells.arrow`` has a line a candidate: row, column, given, value, weight, source.
    """
    import pyarrow as pa

    folder.mkdir(parents=True, exist_ok=True)
    doubts.save(folder / RELATION)
    told = doubts.candidates()
    table = doubts.content.table
    place = {row: number for number, row in enumerate(doubts.row_ids)}
    given = []
    for row, column in zip(told["row"], told["column"], strict=True):
        given.append(text_of(table.column(column)[place[row]].as_py()))
    lines = pa.table(
        {
            "row": pa.array(told["row"], pa.int64()),
            "column": pa.array(told["column"], pa.string()),
            "given": pa.array(given, pa.string()),
            "value": pa.array(list(map(text_of, told["value"])), pa.string()),
            "weight": pa.array(told["weight"], pa.float64()),
            "source": pa.array(told["tool"], pa.string()),
        }
    )
    path = str(folder / "cells.arrow")
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, lines.schema) as writer:
        writer.write_table(lines)
    return len(set(told["block"]))


def text_of(value: Any) -> str:
    """Return a cell as people read it; empty where it is missing."""
    import pandas as pd

    from easeml.lifecycle.evaluation import without_midnight

    if isinstance(value, bytes):
        return f"{len(value):,} bytes"
    if isinstance(value, dict | list):
        return str(value)[:_LONGEST]
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    if isinstance(value, float):
        return f"{value:.10g}"
    return without_midnight(str(value))[:_LONGEST]


def decimals_of(answers: pd.Series) -> int | None:
    """Return how many decimals the answers are written with, but for a few; None of no numbers."""
    if answers.dtype.kind != "f":
        return None
    digits = sorted(len(text_of(value).partition(".")[2]) for value in answers.dropna())
    return digits[int(_USUAL * (len(digits) - 1))] if digits else None


def as_written(
    options: Sequence[tuple[Any, float]], decimals: int | None, given: Any
) -> tuple[tuple[Any, float], ...]:
    """Return options as people would write them: what models say has digits that mean nothing.

    ``given``: the value that stands, which stays as it is.
    """
    if decimals is None:
        return tuple(options)
    found = []
    for value, weight in options:
        found.append((value if value == given else round(float(value), decimals), weight))
    return tuple(found)


def _item(proposal: Proposal, row: pd.Series, matters: list[str]) -> dict[str, Any]:
    options = []
    for value, weight in proposal.options[:_OPTIONS]:
        options.append({"value": text_of(value), "weight": weight})
    question = {
        "given": text_of(proposal.given),
        "options": options,
        "values": cells_of(row, matters),
        "matters": matters,
        "source": proposal.source,
        "told": proposal.told,
    }
    return {
        "kind": proposal.kind,
        "row": int(proposal.row),
        "column": proposal.column,
        "information": proposal.gain,
        "question": question,
    }


def _answered(version: Declared, one: Mapping[str, Any]) -> Answered:
    """Return an answer with the value before as one of its column."""
    from easeml.lifecycle.work import Answered

    given: Any = one["given"] or None
    if given is not None and _kind_of(version, one["column"]) == "number":
        given = float(given)
    return Answered(one["kind"], int(one["row"]), one["column"], given, float(one["told"]))


def _judged(rows: Rows, scores: Path | None) -> tuple[Unseen | None, pd.Series | None]:
    """Return what models said of train rows that they had not seen, and how likely each is wrong."""
    import pandas as pd

    from easeml.lifecycle.held_out import Unseen

    if scores is None:
        return None, None
    said = _read(scores).set_index("row").reindex(rows.train.index)
    suspicion = pd.Series(said["suspicion"].fillna(0.0).to_numpy(), index=rows.train.index)
    return Unseen(said["predicted"].to_numpy(dtype=object)), suspicion


def _predicted(
    version: Declared, frame: pd.DataFrame, predict: Callable[[Any], Any] | None
) -> Unseen | None:
    """Return what the model that serves says of rows; None without one, or without rows."""
    from easeml.lifecycle.held_out import Unseen

    if predict is None or not len(frame):
        return None
    found = predict(frame.reset_index().drop(columns=version.target))
    return Unseen(found.values, found.probabilities, found.classes)


def _plain_columns(version: Declared) -> list[str]:
    """Return the columns that can be compared cell by cell: no pictures, series or tensors."""
    from easeml.data.types.cells import CELLS

    return [name for name in version.frames["train"] if _kind_of(version, str(name)) not in CELLS]


def _kind_of(version: Declared, name: str) -> str:
    if name == ROW:
        return "tensor"
    return next(column.type for column in version.columns if column.name == name)


def _by_id(version: Declared, role: str) -> pd.DataFrame:
    frame = version.frames.get(role)
    if frame is None:
        frame = version.frames["train"].iloc[:0]
    return frame.set_index(ROW)


def cells_of(row: pd.Series, matters: list[str]) -> dict[str, str]:
    """Return the cells of a row as text: those that matter first where there are too many."""
    names = list(map(str, row.index))
    if len(names) > _COLUMNS:
        names = list(dict.fromkeys([*matters, *names]))[:_COLUMNS]
    return {name: _shown(row[name]) for name in names}


def _shown(value: Any) -> str:
    """Return a cell as text, whole but for what is longer than a page; then it ends in dots.

    A picture is an address that pages show: nobody could answer by its bytes.
    """
    if isinstance(value, bytes):
        return large_url(value)
    if not isinstance(value, str) or len(value) <= _LONGEST:
        return text_of(value)
    if len(value) <= _LONGEST_SHOWN:
        return value
    return f"{value[:_LONGEST_SHOWN].rstrip()} …"


def _read(path: Path) -> pd.DataFrame:
    from pyarrow import ipc

    with ipc.open_file(path) as file:
        return file.read_all().to_pandas()
