"""``meter plan`` and ``meter read``: how far validation quality can be trusted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from easeml.cli.lookup import first_that
from easeml.cli.named_files import writing
from easeml.cli.options import Json, at_most_one, comma_separated
from easeml.cli.output import notes, print_done, print_pairs, print_table, print_told, say
from easeml.cli.row_names import place_of_ids, places_by_id
from easeml.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np

    from easeml.cli.test_sets import Known
    from easeml.lifecycle.overfitting import Meter, MeterPlan, Mode

meter = typer.Typer(
    no_args_is_help=True,
    help="Gauge overfitting to the validation set without wearing the test set out.",
)

EXHAUSTED = 6
ModeName = Annotated[str, typer.Option(help="coded, monotone or plain.")]
Signals = Annotated[int, typer.Option(min=1, help="Number of ranges that the meter can show.")]
Tolerance = Annotated[
    float, typer.Option("--tolerance", "--eps", help="How far a range may be off at its edges.")
]
Delta = Annotated[
    float | None,
    typer.Option(help="Probability that any report is off by more; 0.01 if not given."),
]
Reliability = Annotated[float | None, typer.Option(help="1 - delta, another way to say it.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the root."""
    app.add_typer(meter, name="meter")


@meter.command("plan")
def plan(
    signals: Signals = 5,
    reports: Annotated[
        int, typer.Option("--reports", "--steps", min=1, help="How often the meter is read.")
    ] = 10,
    tolerance: Tolerance = 0.02,
    delta: Delta = None,
    reliability: Reliability = None,
    changes: Annotated[
        int, typer.Option(min=0, help="For mode coded: how often the signal may change.")
    ] = 0,
    accuracy: Annotated[
        float,
        typer.Option(min=0, max=1, help="About what models reach; the promise does not need it."),
    ] = 0.5,
    size: Annotated[
        int | None, typer.Option(min=1, help="Test examples at hand: what do they support?")
    ] = None,
    used: Annotated[int, typer.Option(min=0, help="Reports that they have given already.")] = 0,
    as_json: Json = False,
    out: Annotated[
        Path | None, typer.Option(help="Write the report, with its figure, as an HTML page.")
    ] = None,
) -> None:
    """Say how many test examples to label, and how many reports those at hand support."""
    from easeml.lifecycle.overfitting import plan as make_plan

    found = make_plan(
        signals,
        reports,
        tolerance,
        _delta(delta, reliability),
        changes=changes,
        accuracy=accuracy,
        examples=size,
        used=used,
    )
    if out is not None:
        with writing(out, "Cannot be written"):
            out.write_text(found.to_html())
    print_told(found.to_json(), partial(_print_plan, found), as_json=as_json)


def _print_plan(found: MeterPlan) -> None:
    rows = found.to_frame().astype(object).where(lambda frame: frame.notna(), None)
    print_table(list(rows.columns), rows.itertuples(index=False))
    budget = found.budget
    if budget is not None:
        left = f"{budget.total} reports, {budget.remaining} left"
        print_pairs([("published plain budget", left)])
    say(found.advice)


@meter.command("read")
def read(
    state: Annotated[
        Path,
        typer.Argument(metavar="STATE", help="The meter's file (JSON); made if it is not there."),
    ],
    labels: Annotated[
        Path, typer.Option(help="Test labels: a CSV file with one column, or its last is taken.")
    ],
    predictions: Annotated[
        Path,
        typer.Option(
            help="The model's predictions on the same rows, likewise: by id where both files have "
            "a column id, else in the same order."
        ),
    ],
    validation: Annotated[
        float, typer.Option(help="The model's accuracy on the validation set, in [0, 1].")
    ],
    edges: Annotated[
        str, typer.Option(help="For a new meter: ascending edges of the ranges.")
    ] = "0.02,0.04,0.06,0.1",
    reports: Annotated[
        int | None, typer.Option(min=1, help="For a new meter: readings at most.")
    ] = None,
    tolerance: Tolerance = 0.02,
    delta: Delta = None,
    reliability: Reliability = None,
    mode: ModeName = "coded",
    as_json: Json = False,
) -> None:
    """Read the meter for a model.

    Exit code 0 while drift is in the lowest range, 1 above it, 6 if worn out.
    """
    from easeml.cli.ci_files import save_json
    from easeml.cli.test_sets import record_beside
    from easeml.lifecycle.labels import check_vocabularies
    from easeml.lifecycle.overfitting import Meter

    truth, ids = _column(labels)
    predicted, own_ids = _column(predictions)
    places = places_by_id(ids, own_ids, labels, predictions)
    if places is not None:
        predicted = _put_in_order(predicted, places, predictions)
    check_vocabularies(truth.tolist(), predicted.tolist(), where=f"{labels}, {predictions}")
    if len(truth) != len(predicted):
        raise InvalidInput(
            f"{len(predicted)} predictions for {len(truth)} labels.", where=str(predictions)
        )
    with record_beside(labels) as record:
        known = record.find(labels, truth.tolist(), None)
        gauge = _on_file(state, known)
        if gauge is None:
            gauge = Meter(
                examples=len(truth),
                edges=_edges(edges),
                tolerance=tolerance,
                delta=_delta(delta, reliability),
                reports=reports,
                mode=_mode(mode),
                learned_elsewhere=_learned_elsewhere(known),
            )
        reading, after = gauge.read(validation, (truth == predicted).astype(float))
        known.meter = after.to_json()
        record.save()
        save_json(after.to_json(), state)
    print_done(reading.to_json(), reading.advice, as_json=as_json)
    raise typer.Exit(EXHAUSTED if reading.signal is None else int(reading.signal > 1))


def _on_file(path: Path, known: Known) -> Meter | None:
    """Return the meter of these labels: that on file, or the copy beside the labels.

    The copy counts if it has seen more, or if the file is gone.
    """
    from easeml.lifecycle.overfitting import Meter

    found = Meter.from_json(_load(path)) if path.exists() else None
    if known.meter is None:
        return found
    copy = Meter.from_json(known.meter)
    if found is not None and len(found.history) >= len(copy.history):
        return found
    notes().print(
        "The meter was read on these labels before: it goes on with its promise "
        f"(±{copy.tolerance:g}, delta {copy.delta:g}) after {len(copy.history)} reports."
    )
    return copy


def _learned_elsewhere(known: Known) -> float:
    """Return ln of the histories of answers that `ci` can have given on these labels."""
    from easeml.lifecycle.ci import Spent

    spent = known.spent_by_others("")
    if spent != Spent():
        notes().print("`ci` has used these labels: what it answered is counted.")
    if spent.rows:
        notes().print(
            f"It has also shown estimates on {spent.rows:,} of them, which cannot be counted: "
            "readings are right only if no model followed from those."
        )
    return spent.nats


def _delta(delta: float | None, reliability: float | None) -> float:
    either = InvalidInput("Give either --delta or --reliability.", where="--reliability")
    at_most_one(delta is not None, reliability is not None, otherwise=either)
    if reliability is not None:
        return 1 - reliability
    return 0.01 if delta is None else delta


def _mode(name: str) -> Mode:
    from easeml.lifecycle.overfitting import MODES

    no_such = InvalidInput(
        f"There is no mode {name!r}.", where="--mode", remedy=f"Use {', '.join(MODES)}."
    )
    return first_that(lambda mode: mode == name, MODES, no_such)


def _edges(text: str) -> tuple[float, ...]:
    try:
        return tuple(map(float, comma_separated(text)))
    except ValueError as error:
        raise InvalidInput("Edges are numbers with commas between.", where="--edges") from error


def _column(path: Path) -> tuple[np.ndarray, list[str] | None]:
    """Return the classes in the last column of a CSV file with a header, by their names.

    And the ids of its rows, where another column has them.
    """
    from easeml.data import read_table
    from easeml.lifecycle.labels import class_names

    table = read_table(path)
    place = place_of_ids(table.column_names)
    ids = None
    if place is not None:
        ids = list(map(str, class_names(table.column(place).to_pylist())))
        table = table.remove_column(place)
    values = table.column(table.num_columns - 1).to_pylist()
    if not all(values):
        row = list(map(bool, values)).index(False)
        raise InvalidInput(
            "A value is missing.", where=f"{path}, row {row}, column {table.column_names[-1]}"
        )
    return class_names(values), ids


def _put_in_order(values: np.ndarray, places: Sequence[int | None], path: Path) -> np.ndarray:
    """Return the values at these places; raises InvalidInput where one of them is nowhere."""
    import numpy as np

    lacking = places.count(None)
    if lacking:
        raise InvalidInput(
            f"{lacking} of the labelled rows have no prediction.",
            where=str(path),
            remedy="Predict every row that has a label.",
        )
    return values[np.array(places, np.int64)]


def _load(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text())
        if not isinstance(found, dict):
            raise ValueError("no object")
    except (OSError, ValueError) as error:
        raise InvalidInput(
            "This is not the file of a meter.", where=str(path), remedy="Name another file."
        ) from error
    return found
