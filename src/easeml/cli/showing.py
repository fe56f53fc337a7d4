"""How a proposal and an application look."""

from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

import typer

from easeml.cli.output import console, notes, print_pairs, print_table, say, share_missing
from easeml.contract.applications import Application, Declaration, Proposal
from easeml.contract.datasets import Column, Version
from easeml.contract.knowledge import Titles
from easeml.contract.measures import (
    against_baseline,
    best_found,
    called,
    in_unit,
    interval,
    score,
    times_read,
)
from easeml.contract.reports import Report, ReportNumber

if TYPE_CHECKING:
    from easeml.contract.reports import ReportRemedy, ReportTable
    from easeml.lifecycle.tool import Number, ToolAnswer
    from easeml.lifecycle.tool_answer import Remedy, Table

_SHOWN_ROWS = 20
_REMEDY = ("remedy", "mistakes less", "minutes of a person", "device seconds")
_MOST_CHOICES = 20  # columns that are named before somebody is asked for one of them
_LONGEST_CELL = 40  # characters
_LEAK = " Suspected to leak"  # what the evidence of a leak goes on with


def print_proposal(proposal: Proposal, declaration: Declaration) -> None:
    """Print the columns as inferred, then target, objectives and models of a proposal."""
    rows = []
    for one in proposal.columns:
        missing = share_missing(one.missing)
        evidence = _evidence(one, proposal.target)
        rows.append((one.name, one.type, one.role, missing, _examples(one), evidence))
    print_table(["column", "type", "role", "missing", "examples", "evidence"], rows)
    console().print()
    _print_choices(proposal, declaration)
    _print_leaks(proposal)
    unfit = Counter(model.why_not for model in proposal.models if not model.fits)
    if unfit:
        console().print()
        counts = [(count, reason) for reason, count in unfit.items()]
        print_table(["models that do not fit", "because"], counts)


def _print_leaks(proposal: Proposal) -> None:
    """Print a line for each column that is used and may know the target."""
    for one in proposal.columns:
        if one.nature != "leak" or one.role != "input":
            continue
        why = one.leaks.get(proposal.target, one.evidence)
        say(
            f"Suspected leak: column '{one.name}' may know '{proposal.target}': {why}. "
            f"Drop it if it is not known when you predict (--drop '{one.name}')."
        )


def _print_choices(proposal: Proposal, declaration: Declaration) -> None:
    """Print the target, the objectives and the models that a proposal would take."""
    target = proposal.target
    if not declaration.target:
        target += " (proposed; name another with --target)"
    chosen = default_objective(proposal)
    fitting = [model.name for model in proposal.models if model.fits]
    print_pairs(
        [
            ("target", target),
            ("objective", chosen),
            ("others that fit", [one.name for one in proposal.objectives if one.name != chosen]),
            ("also, say", [one.example for one in proposal.families]),
            (f"{len(fitting)} models", fitting),
        ]
    )


def default_objective(proposal: Proposal) -> str:
    """Return the objective that an application of this proposal would have."""
    for one in proposal.objectives:
        if one.default:
            return one.name
    return ""


def ask_for_target(version: Version) -> str:
    """Ask which column of an upload is to be predicted, as none suggests itself surely enough."""
    for note in version.summary.get("notes", []):
        notes().print(note, markup=False)
    names = [column.name for column in version.columns]
    if len(names) < _MOST_CHOICES:
        notes().print(f"Columns: {', '.join(names)}", markup=False)
    while True:
        answer = typer.prompt("Column to predict").strip()
        if answer in names:
            return answer
        notes().print(_no_such_column(answer, names), markup=False)


def _no_such_column(answer: str, names: Sequence[str]) -> str:
    """Return what to say where somebody names a column that the data does not have."""
    said = f"There is no column '{answer}'."
    close = get_close_matches(answer, names)
    return f"{said} Did you mean {' or '.join(map(repr, close))}?" if close else said


def _evidence(column: Column, target: str) -> str:
    """Return what shows a column's type; why it is a suspected leak is said below the table."""
    if column.role != "input" or target not in column.leaks:
        return column.evidence
    return column.evidence.partition(_LEAK)[0] + " Suspected leak, see below."


def _examples(column: Column) -> list[str]:
    """Return up to three values; those of pictures, tensors and graphs are too long for a table."""
    if column.content:
        return []
    return [_shortened(example) for example in column.examples[:3]]


def _shortened(text: str) -> str:
    """Return a cell as it may stand in a table: its beginning, where it is long."""
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 3].rstrip() + "..."


def print_application(application: Application, titles: Titles) -> None:
    """Print an application: state, what it serves, the honest number, and what comes next."""
    print_pairs(
        [
            ("id", application.id),
            ("name", application.name),
            ("state", application.state),
            ("target", application.target),
            ("objective", application.objective),
            ("endpoint", application.endpoint),
            ("serves", _served(application, titles)),
            ("pinned", _pinned(application)),
            (f"test {called(application.objective)}", _test_measure(application)),
            ("compared", _compared(application)),
            ("test score", _test_score(application)),
            *_search(application, titles),
            ("notes", "\n".join(application.notes)),
            ("error", application.error or _search_error(application)),
        ]
    )


def _search(application: Application, titles: Titles) -> list[tuple[str, object]]:
    """Return what the search of an application does, by name; nothing while there is none."""
    shown: list[tuple[str, object]] = [
        ("best so far", _best(application)),
        ("expected improvement", expected_improvement(application)),
        ("running", list(map(titles.of, application.running))),
        ("next", list(map(titles.of, application.next))),
    ]
    job = application.job
    if job is None:
        return shown
    candidates = f"{job.tasks_done} done, {job.tasks_failed} failed of {job.candidates}"
    return [
        ("search", job.state),
        ("waiting", job.waiting_reason),
        *shown,
        ("candidates", candidates),
        ("device seconds", f"{job.cost:.1f}"),
    ]


def _search_error(application: Application) -> str | None:
    return application.job.error if application.job else None


def _served(application: Application, titles: Titles) -> str:
    """Return what answers requests, and which rows it learned from."""
    model = application.live_model
    if model is None:
        return "nothing yet"
    served = f"{titles.of(model.name)} ({model.id})"
    if model.members:
        names = [titles.of(member.name) for member in model.members]
        served += f" of {', '.join(names)}"
    return f"{served}, fitted on all rows but the test rows" if model.refitted else served


def print_answer(answer: "Report | ToolAnswer", said: Sequence[str] = ()) -> None:
    """Print what a lifecycle tool answered, here or in the service; ``said``: notes on the files.

    What it assumes, and notes, go to standard error.
    """
    opening = f"{answer.verdict.capitalize()}. " if answer.verdict else ""
    say(opening + answer.advice)
    print_pairs((one.title, _with_interval(one)) for one in answer.numbers)
    if answer.remedies:
        say("\nWhat to do")
        print_table(_REMEDY, [_remedy(place, one) for place, one in enumerate(answer.remedies, 1)])
    for table in answer.tables:
        _print_first_rows(table)
    for assumption in answer.assumes:
        notes().print(f"Assumed: {assumption}", markup=False)
    for note in (*said, *answer.notes):
        notes().print(f"Note: {note}", markup=False)


def _print_first_rows(table: "ReportTable | Table") -> None:
    say(f"\n{table.title}")
    print_table(table.columns, table.rows[:_SHOWN_ROWS])
    more = len(table.rows) - _SHOWN_ROWS
    if more > 0:
        say(f"... and {more} more row{'' if more == 1 else 's'}.")


def _remedy(place: int, one: "Remedy | ReportRemedy") -> tuple[object, ...]:
    corrects = f"{one.corrected:.0f} ({one.low:.0f} to {one.high:.0f})"
    return (
        f"{place}. {one.title}",
        corrects,
        f"{one.human_minutes:.0f}",
        f"{one.device_seconds:.0f}",
    )


def _with_interval(one: "ReportNumber | Number") -> str:
    if one.low is None or one.high is None:
        is_count = float(one.value).is_integer() and abs(one.value) > 1
        return f"{one.value:,.0f}" if is_count else score(one.value)
    return f"{score(one.value)} ({score(one.low)} to {score(one.high)})"


def expected_improvement(application: Application) -> str | None:
    """Return how much score the search still expects to gain, with its error."""
    job = application.job
    if job is None or job.expected_improvement is None:
        return None
    gain = f"{job.expected_improvement:.4f}"
    if job.expected_improvement_error is not None:
        gain += f" ± {job.expected_improvement_error:.4f}"
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
    return f"{value} on {found.rows:,} test rows, {times_read(found)}"


def _test_score(application: Application) -> str | None:
    """Return the honest number as the search sees it."""
    found = application.test_quality
    if found is None:
        return None
    span = f"{score(found.low)} to {score(found.high)}"
    return f"{score(found.value)} ({span}), where 1 is best"
