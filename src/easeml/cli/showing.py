"""How a proposal and an application look."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
import typer

from easeml.cli.output import console, notes, print_pairs, print_table, say
from easeml.contract.applications import Application, Declaration, Proposal
from easeml.contract.datasets import Column, Version
from easeml.contract.measures import against_baseline, best_found, in_unit, interval
from easeml.contract.reports import Report, ReportNumber

if TYPE_CHECKING:
    from easeml.lifecycle.tool import Number, ToolAnswer

_SHOWN_ROWS = 20


def print_proposal(proposal: Proposal, declaration: Declaration) -> None:
    """Print the columns as inferred, then target, objectives and models of a proposal."""
    rows = [
        (
            one.name,
            one.type,
            one.role,
            f"{one.missing:.1%}" if one.missing else "",
            _examples(one),
            one.evidence,
        )
        for one in proposal.columns
    ]
    print_table(["column", "type", "role", "missing", "examples", "evidence"], rows)
    fitting = [model.name for model in proposal.models if model.fits]
    proposed = "" if declaration.target else " (proposed; name another with --target)"
    chosen = declaration.objective or next(
        (one.name for one in proposal.objectives if one.default), ""
    )
    console().print()
    print_pairs(
        [
            ("target", proposal.target + proposed),
            ("objective", chosen),
            ("others that fit", [one.name for one in proposal.objectives if one.name != chosen]),
            (f"{len(fitting)} models", fitting),
        ]
    )
    for one in proposal.columns:
        if one.nature == "leak" and one.role == "input":
            say(f"Suspected leak: column '{one.name}'. {one.evidence}")
    unfit = Counter(model.why_not for model in proposal.models if not model.fits)
    if unfit:
        console().print()
        print_table(
            ["models that do not fit", "because"],
            [(count, reason) for reason, count in unfit.items()],
        )


def ask_for_target(version: Version) -> str:
    """Ask which column of an upload is to be predicted, as none suggests itself surely enough."""
    for note in version.summary.get("notes", []):
        notes().print(note, markup=False)
    names = [column.name for column in version.columns]
    return typer.prompt("Column to predict", type=click.Choice(names), show_choices=len(names) < 20)


def _examples(column: Column) -> list[str]:
    """Return up to three values; those of pictures, tensors and graphs are too long for a table."""
    return [] if column.content else column.examples[:3]


def print_application(application: Application) -> None:
    """Print an application: state, what it serves, the honest number, and what comes next."""
    job, model = application.job, application.live_model
    print_pairs(
        [
            ("id", application.id),
            ("name", application.name),
            ("state", application.state),
            ("target", application.target),
            ("objective", application.objective),
            ("endpoint", application.endpoint),
            ("serves", f"{model.name} ({model.id})" if model else "nothing yet"),
            ("pinned", _pinned(application)),
            (f"test {application.objective}", _test_measure(application)),
            ("compared", _compared(application)),
            ("test score", _test_score(application)),
            ("search", job.state if job else None),
            ("waiting", job.waiting_reason if job else None),
            ("best so far", _best(application)),
            ("expected improvement", expected_improvement(application)),
            ("running", application.running),
            ("next", application.next),
            (
                "candidates",
                f"{job.tasks_done} done, {job.tasks_failed} failed of {job.candidates}"
                if job
                else None,
            ),
            ("device seconds", f"{job.cost:.1f}" if job else None),
            ("notes", "\n".join(application.notes)),
            ("error", application.error or (job.error if job else "")),
        ]
    )


def print_answer(answer: "Report | ToolAnswer", said: Sequence[str] = ()) -> None:
    """Print what a lifecycle tool answered, here or in the service; ``said``: notes on the files.

    What it assumes, and notes, go to standard error.
    """
    opening = f"{answer.verdict.capitalize()}. " if answer.verdict else ""
    say(opening + answer.advice)
    print_pairs((one.title, _with_interval(one)) for one in answer.numbers)
    for table in answer.tables:
        say(f"\n{table.title}")
        print_table(table.columns, table.rows[:_SHOWN_ROWS])
        if len(table.rows) > _SHOWN_ROWS:
            say(f"... and {len(table.rows) - _SHOWN_ROWS} more rows.")
    for assumption in answer.assumes:
        notes().print(f"Assumed: {assumption}", markup=False)
    for note in (*said, *answer.notes):
        notes().print(f"Note: {note}", markup=False)


def _with_interval(one: "ReportNumber | Number") -> str:
    if one.low is None or one.high is None:
        is_count = float(one.value).is_integer() and abs(one.value) > 1
        return f"{one.value:,.0f}" if is_count else f"{one.value:.4f}"
    return f"{one.value:.4f} ({one.low:.4f} to {one.high:.4f})"


def expected_improvement(application: Application) -> str | None:
    """Return how much score the search still expects to gain, with its error."""
    job = application.job
    if job is None or job.expected_improvement is None:
        return None
    error = job.expected_improvement_error
    gain = f"{job.expected_improvement:.4f}" + (f" ± {error:.4f}" if error is not None else "")
    return f"{gain} of score"


def _best(application: Application) -> str | None:
    """Return the best that the search found, in its own unit."""
    found = best_found(application)
    return f"{found} on validation rows (optimistic)" if found else None


def _compared(application: Application) -> str | None:
    """Return how much better than always guessing alike the live model is on test rows."""
    found = application.test_quality
    if found is None or found.measure is None:
        return None
    return against_baseline(found.measure)


def _pinned(application: Application) -> str | None:
    """Return that better models are held back, with the command that lets them in again."""
    if not application.pinned:
        return None
    return f"yes, better models wait: easeml app unpin {application.id}"


def _test_measure(application: Application) -> str | None:
    """Return the honest number in its own unit, and on which rows it was read."""
    found = application.test_quality
    if found is None or found.measure is None:
        return None
    measure = found.measure
    better = ", lower is better" if measure.lower_is_better else ""
    value = f"{in_unit(measure, application.target)} ({interval(measure)}{better})"
    times = "once" if found.readings == 1 else f"{found.readings} times"
    return f"{value} on {found.rows:,} test rows, read {times}"


def _test_score(application: Application) -> str | None:
    """Return the honest number as the search sees it."""
    found = application.test_quality
    if found is None:
        return None
    return f"{found.value:.4f} ({found.low:.4f} to {found.high:.4f}), where 1 is best"
