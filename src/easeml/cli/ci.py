"""``ci plan``, ``ci test`` and ``ci ledger``: may a new model replace the old one?"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from easeml.cli.named_files import content_of, writing
from easeml.cli.options import Json
from easeml.cli.output import (
    notes,
    print_pairs,
    print_table,
    print_table_of_any,
    print_told,
    say,
)
from easeml.errors import InvalidInput

if TYPE_CHECKING:
    import pandas as pd

    from easeml.cli.test_sets import Known, Record
    from easeml.lifecycle.ci import ClauseFinding, Config, Ledger, Method, Plan, Step, Verdict

ci = typer.Typer(no_args_is_help=True, help="Continuous integration of models, with guarantees.")

_SHOWN_LABELS = 20
_TRUTHS = {True: "true", False: "false", None: "open"}
EXIT_CODES = {"pass": 0, "fail": 1, "unknown": 6, "exhausted": 6}

ConfigFile = Annotated[
    Path, typer.Argument(metavar="CONFIG", help="The configuration, as .easeml-ci.yml.")
]
LedgerFile = Annotated[
    Path | None, typer.Option(help="The ledger's file; beside the configuration if not given.")
]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the root."""
    app.add_typer(ci, name="ci")


@ci.command("plan")
def plan(
    condition: Annotated[
        str,
        typer.Argument(metavar="CONDITION", help="A condition, or the file of a configuration."),
    ],
    *,
    reliability: Annotated[float, typer.Option(help="1 - delta, of all steps together.")] = 0.99,
    mode: Annotated[str, typer.Option(help="fp-free or fn-free.")] = "fp-free",
    adaptivity: Annotated[str, typer.Option(help="none, full or firstChange.")] = "full",
    steps: Annotated[int, typer.Option(help="How many commits one test set shall serve.")] = 1,
    metric: Annotated[
        str, typer.Option(help="accuracy, f1, brier, absolute-error, squared-error or score.")
    ] = "accuracy",
    positives: Annotated[
        float | None,
        typer.Option(help="Share of examples of the positive class; for f1, which needs it."),
    ] = None,
    scale: Annotated[float, typer.Option(help="The largest error that counts.")] = 1.0,
    difference: Annotated[
        float | None, typer.Option(help="Share of predictions that a commit changes at most.")
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(
            help="A group of the condition and its share of the examples, as 'sex = female: 0.4'; "
            "repeatable."
        ),
    ] = None,
    as_json: Json = False,
    out: Annotated[
        Path | None, typer.Option(help="Write the report, with its figure, as an HTML page.")
    ] = None,
) -> None:
    """Say how many examples and labels a condition needs. An example: "n - o > 0.02 +/- 0.01"."""
    from easeml.lifecycle.ci import plan as make_plan
    from easeml.lifecycle.ci import read_config

    if condition.endswith((".yml", ".yaml", ".json")):
        config = _config(Path(condition))
    else:
        keys = {
            "condition": condition,
            "reliability": reliability,
            "mode": mode,
            "adaptivity": adaptivity,
        }
        more = {"steps": steps, "metric": metric, "scale": scale, "difference": difference}
        groups = dict(map(_group_and_share, group or ()))
        config = read_config({**keys, **more, "groups": groups})
    found = make_plan(config, positives=positives)
    _write_page(found, out)
    print_told(found.to_json(), partial(_print_plan, found), as_json=as_json)


def _group_and_share(text: str) -> tuple[str, str]:
    group, colon, share = text.rpartition(":")
    if not colon:
        raise InvalidInput(
            f"'{text}' does not say how large the group is.",
            where="--group",
            remedy="Write it as in --group 'sex = female: 0.4'.",
        )
    return group, share.strip()


def _print_plan(found: Plan) -> None:
    columns = ["method", "labels at most", "examples", "a commit at most", "labels expected"]
    print_table(columns, map(_method_row, found.methods))
    print_pairs([("promise", found.guarantee), ("advice", found.advice)])


def _method_row(method: Method) -> tuple[str, ...]:
    counts = (method.labelled, method.pool, method.per_commit, method.expected)
    return method.name, *map("{:,}".format, counts)


@ci.command("test")
def test(
    config: ConfigFile,
    *,
    new: Annotated[Path, typer.Option(help="Predictions of the new model, one a row.")],
    labels: Annotated[
        Path, typer.Option(help="Labels, one a row; empty where an example has none yet.")
    ],
    old: Annotated[
        Path | None,
        typer.Option(help="Predictions of the old model; may miss at the first commit."),
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option(help="Table of the examples, for a condition on groups of them."),
    ] = None,
    ledger: LedgerFile = None,
    ask: Annotated[
        Path | None, typer.Option(help="Write the examples to label next to this CSV file.")
    ] = None,
    new_test_set: Annotated[
        bool, typer.Option("--new-test-set", help="The labels are of a new test set.")
    ] = False,
    as_json: Json = False,
    out: Annotated[
        Path | None, typer.Option(help="Write the report, with its figure, as an HTML page.")
    ] = None,
) -> None:
    """Test a commit.

    Exit codes: 0 pass, 1 fail, 6 unknown (label more) or exhausted (bring a new test set).
    """
    from easeml.cli.ci_files import ledger_path, locked, read_rows, save_json
    from easeml.cli.test_sets import record_beside
    from easeml.lifecycle.ci import commit_digest, score_examples, uses_old

    settings = _config(config)
    if old is None and uses_old(settings.condition):
        raise InvalidInput("The condition needs the old model's predictions.", where="--old")
    if rows is None and settings.names_groups:
        raise InvalidInput("The condition is about groups of the examples.", where="--rows")
    ids, truth, first, before = _read_columns(labels, new, old)
    cells = None
    if rows is not None:
        cells = read_rows(rows, labels, ids, len(truth))
        settings = _of_each_group(settings, cells)
    examples = score_examples(first, before, truth, settings, cells)
    path = ledger or ledger_path(config)
    with record_beside(labels) as record, locked(path):
        tested = _Rows(labels, truth, ids, new_test_set)
        opened, known = _ledger_for(settings, path, tested, record)
        verdict, after = opened.test(commit_digest(first, before), examples)
        known.ledgers[settings.digest] = after.to_json()
        record.save()
        save_json(after.to_json(), path)
    if ask is not None:
        _write_wanted(ask, verdict, ids)
    _write_page(verdict, out)
    told = {**verdict.to_json(), "labels_wanted": _wanted(verdict, ids)}
    print_told(told, partial(_show, verdict, ids), as_json=as_json)
    raise typer.Exit(EXIT_CODES[verdict.answer])


def _of_each_group(config: Config, rows: pd.DataFrame) -> Config:
    """Return the configuration with a clause for each group that ``[column = *]`` stands for."""
    from easeml.lifecycle.ci import of_each_group, values_in

    condition = of_each_group(config.condition, partial(values_in, rows=rows))
    return replace(config, condition=condition)


def _read_columns(
    labels: Path, new: Path, old: Path | None
) -> tuple[list[str] | None, list[Any], list[Any], list[Any] | None]:
    """Return the ids of the rows, if any; labels, new predictions and, if given, old ones."""
    from easeml.cli.ci_files import align, read_column

    known, predicted = read_column(labels, labels=True), read_column(new)
    if old is None:
        ids, (truth, first) = align(known, predicted)
        return ids, truth, first, None
    ids, (truth, first, before) = align(known, predicted, read_column(old))
    return ids, truth, first, before


@ci.command("ledger")
def show_ledger(config: ConfigFile, ledger: LedgerFile = None, as_json: Json = False) -> None:
    """Show what was asked of the test set, and what is left."""
    from easeml.cli.ci_files import ledger_path, load_ledger

    path = ledger or ledger_path(config)
    record = load_ledger(path)
    if record is None:
        raise InvalidInput("There is no ledger yet: no commit was tested.", where=str(path))
    print_told(record.to_json(), partial(_print_ledger, record), as_json=as_json)


def _print_ledger(record: Ledger) -> None:
    columns = ["step", "commit", "answer", "labels", "examples"]
    rows = map(_step_row, count(1), record.history)
    print_table(columns, rows, empty="No commit was tested yet.")
    say(record.advice)


def _step_row(number: int, step: Step) -> tuple[object, ...]:
    return number, step.commit[:12], step.answer, step.labels, step.rows


def _config(path: Path) -> Config:
    from easeml.lifecycle.ci import parse_config

    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InvalidInput(
            f"The configuration cannot be read: {reason}.",
            where=str(path),
            remedy="Check the path.",
        ) from error
    with content_of(path):
        return parse_config(text)


@dataclass(frozen=True)
class _Rows:
    """The rows of a test.

    Labels are None where missing; ``new``: the user says that they are a new test set.
    """

    file: Path
    labels: list[Any]
    ids: list[str] | None
    new: bool

    def named(self, known: Sequence[bool] | None = None) -> str:
        """Return the name of the test set, of the labels that are marked in ``known`` alone."""
        from easeml.lifecycle.ci import test_set_digest

        if known is None:
            return test_set_digest(self.labels, self.ids)
        pairs = zip(self.labels, known, strict=True)
        kept = [label if is_known else None for label, is_known in pairs]
        return test_set_digest(kept, self.ids)


def _ledger_for(config: Config, path: Path, rows: _Rows, record: Record) -> tuple[Ledger, Known]:
    """Return the ledger that this test belongs to, and the entry of its test set in the record.

    The ledger is the one on file, the copy in the record, or a new one for a first test, another
    configuration or a new test set.
    """
    import numpy as np

    from easeml.cli.ci_files import load_ledger
    from easeml.lifecycle.ci import Spent, open_ledger

    on_file = load_ledger(path)
    retired = ()
    if on_file is not None and rows.new:
        retired = (*on_file.retired, on_file.test_set)
    elif on_file is not None:
        _check_ledger(on_file, config, path, rows)
    has_label = np.array([label is not None for label in rows.labels], dtype=bool)
    # Opened first: a retired test set is refused before the record changes.
    fresh = open_ledger(config, has_label, rows.named(), retired)
    known = record.find(rows.file, rows.labels, rows.ids, new=rows.new)
    spent = known.spent_by_others(config.digest)
    begun = _longest(on_file, known.ledgers.get(config.digest), record, is_new=rows.new)
    if begun is not None:
        return begun.beside(spent), known
    if spent != Spent():
        notes().print("These rows were used under another promise: both share one budget.")
    return open_ledger(config, has_label, fresh.test_set, retired, spent), known


def _longest(
    on_file: Ledger | None, copy: dict[str, Any] | None, record: Record, *, is_new: bool
) -> Ledger | None:
    """Return the ledger of these rows that has seen more: that on file, or its copy in the record.

    ``is_new``: the rows are a new test set, which the ledger on file is not about.
    """
    from easeml.lifecycle.ci import Ledger

    steps_on_file = -1 if on_file is None else len(on_file.history)
    if copy is not None and len(copy["history"]) > steps_on_file:
        notes().print(f"These rows were tested before: the ledger goes on from {record.path.name}.")
        return Ledger.from_json(copy)
    return None if is_new else on_file


def _check_ledger(ledger: Ledger, config: Config, path: Path, rows: _Rows) -> None:
    if ledger.config.digest != config.digest:
        raise InvalidInput(
            "The configuration is not the one that the ledger was opened with.",
            where=str(path),
            remedy="Restore it, keep another one in a file of its own (both share the test set's budget), "
            "or bring a new test set with --new-test-set.",
        )
    same_rows = len(rows.labels) == ledger.examples
    if not same_rows or rows.named(ledger.labelled_first().tolist()) != ledger.test_set:
        raise InvalidInput(
            "The labels are not those of the ledger's test set.",
            where=str(path),
            remedy="Give the same examples with at least the labels of the first test, or use --new-test-set.",
        )


def _show(verdict: Verdict, ids: list[str] | None) -> None:
    wanted = _wanted(verdict, ids)
    shown = wanted[:_SHOWN_LABELS]
    if len(wanted) > _SHOWN_LABELS:
        shown.append("...")
    print_pairs(
        [
            ("answer", verdict.answer),
            ("condition", verdict.condition),
            ("step", f"{verdict.step} of {verdict.steps}"),
            ("labels used", verdict.labels_used),
            ("label next", shown),
        ]
    )
    rows = list(map(_finding_row, verdict.findings or ()))
    print_table_of_any(["clause", "counts as", "estimate", "low", "high"], rows)
    say(verdict.advice)


def _finding_row(found: ClauseFinding) -> tuple[object, ...]:
    return found.clause, _TRUTHS[found.truth], found.estimate, found.low, found.high


def _wanted(verdict: Verdict, ids: list[str] | None) -> list[Any]:
    """Return the rows to label next, by their ids where there are any."""
    rows = list(verdict.labels_wanted)
    return rows if ids is None else list(map(ids.__getitem__, rows))


def _write_wanted(path: Path, verdict: Verdict, ids: list[str] | None) -> None:
    name = "row" if ids is None else "id"
    with writing(path), path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([name, "label"])
        writer.writerows(zip(_wanted(verdict, ids), repeat("")))


def _write_page(result: Plan | Verdict, out: Path | None) -> None:
    """Write a report as an HTML page, if somebody asked for one."""
    if out is not None:
        with writing(out):
            out.write_text(result.to_html(), "utf-8")
