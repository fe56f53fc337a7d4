"""How a proposal and an application look."""

from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import typer

from easeml.cli.output import (
    console,
    moment,
    plural,
    print_pairs,
    print_table,
    say,
    say_aside,
    share_missing,
    shortened,
)
from easeml.contract.applications import Application, Declaration, Proposal
from easeml.contract.datasets import Column, Version, most_telling
from easeml.contract.knowledge import Titles
from easeml.contract.measures import (
    against_baseline,
    best_found,
    best_judged_on,
    called,
    in_unit,
    interval,
    score,
    times_read,
)
from easeml.contract.reports import Report, ReportNumber
from easeml.contract.states import Permission, RolloutState
from easeml.contract.tasks import ForecastRule

if TYPE_CHECKING:
    from easeml.contract.reports import ReportRemedy, ReportTable
    from easeml.lifecycle.tool import Number, ToolAnswer
    from easeml.lifecycle.tool_answer import Remedy, Table

_SHOWN_ROWS = 20
_REMEDY = ("remedy", "mistakes less", "minutes of a person", "device seconds")
_MOST_COLUMNS = 60  # of which a line each is printed
_MOST_CHOICES = 20  # columns that are named before somebody is asked for one of them
_LEAK = " Suspected to leak"  # what the evidence of a leak goes on with


def print_proposal(proposal: Proposal, declaration: Declaration) -> None:
    """Print the columns as inferred, then target, objectives and models of a proposal."""
    _print_columns(proposal)
    console().print()
    _print_choices(proposal, declaration)
    _print_leaks(proposal)
    for note in proposal.notes:
        say(note)
    _print_unfit(proposal)


def _print_columns(proposal: Proposal) -> None:
    headings = ["column", "type", "role", "missing", "examples", "evidence"]
    shown = most_telling(proposal.columns, _MOST_COLUMNS)
    print_table(headings, map(partial(_column_row, proposal.target), shown))
    hidden = len(proposal.columns) - len(shown)
    if hidden:
        say(f"{hidden} columns more, like most of these; --json has all.")


def _column_row(target: str, one: Column) -> tuple[object, ...]:
    missing = share_missing(one.missing)
    return one.name, one.type, one.role, missing, _examples(one), _evidence(one, target)


def told_forecast(rule: ForecastRule | None) -> str:
    """Return how a target is forecast, in words; nothing where it is not."""
    if rule is None:
        return ""
    of_each = f", of each {', '.join(rule.series)}" if rule.series else ""
    steps = plural(rule.ahead, "step")
    past = ""
    if rule.past_only:
        past = f", told what {', '.join(rule.past_only)} was before"
    return f"{rule.ahead} {steps} ahead by {rule.time}{of_each}{past}; the latest rows test"


def _print_unfit(proposal: Proposal) -> None:
    """Print why models do not fit, and how many each reason excludes; nothing where all fit."""
    reasons = Counter(model.why_not for model in proposal.models if not model.fits)
    if reasons:
        console().print()
        counts = zip(reasons.values(), reasons, strict=True)
        print_table(["models that do not fit", "because"], counts)


def _print_leaks(proposal: Proposal) -> None:
    """Print a line for each column that is used and may know the target."""
    for one in proposal.columns:
        if (one.role, one.nature) == ("input", "leak"):
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
    others = [one.name for one in proposal.objectives if one.name != chosen]
    fitting = [model.name for model in proposal.models if model.fits]
    print_pairs(
        [
            ("target", target),
            ("forecast", told_forecast(proposal.forecast)),
            ("objective", chosen),
            ("others that fit", others),
            ("also, say", [one.example for one in proposal.families]),
            (f"{len(fitting)} models", fitting),
        ]
    )


def default_objective(proposal: Proposal) -> str:
    """Return the objective that an application of this proposal would have."""
    names = [one.name for one in proposal.objectives if one.default]
    return next(iter(names), "")


def ask_for_target(version: Version) -> str:
    """Ask which column of an upload is to be predicted, as none suggests itself surely enough."""
    say_aside(*version.summary.get("notes", []))
    names = [column.name for column in version.columns]
    if len(names) < _MOST_CHOICES:
        say_aside(f"Columns: {', '.join(names)}")
    while True:
        answer = typer.prompt("Column to predict").strip()
        if answer in names:
            return answer
        say_aside(_no_such_column(answer, names))


def _no_such_column(answer: str, names: Sequence[str]) -> str:
    """Return what to say where somebody names a column that the data does not have."""
    said = f"There is no column '{answer}'."
    close = get_close_matches(answer, names)
    if not close:
        return said
    return f"{said} Did you mean {' or '.join(map(repr, close))}?"


def _evidence(column: Column, target: str) -> str:
    """Return what shows a column's type; why it is a suspected leak is said below the table."""
    evidence = column.evidence
    if column.role == "input" and target in column.leaks:
        evidence = evidence.partition(_LEAK)[0] + " Suspected leak, see below."
    return evidence + confirming(column.name, column.suspected_codes)


def confirming(column: str, suspected_codes: Sequence[str]) -> str:
    """Return how one confirms that values of a column stand for missing ones; "" where none may."""
    if not suspected_codes:
        return ""
    return f" Confirm with --set '{column}.missing={','.join(suspected_codes)}'."


def _examples(column: Column) -> list[str]:
    """Return up to three values; those of pictures, tensors and graphs are too long for a table."""
    if column.content:
        return []
    return list(map(shortened, column.examples[:3]))


def print_application(application: Application, titles: Titles) -> None:
    """Print an application: state, what it serves, the honest number, and what comes next."""
    error = application.error
    if not error and application.job is not None:
        error = application.job.error
    print_pairs(
        [
            ("id", application.id),
            ("name", application.name),
            ("state", application.state),
            ("you may", _limits_of(application)),
            ("target", application.target),
            ("forecast", told_forecast(application.forecast)),
            ("objective", application.objective),
            ("weight", application.weight),
            ("endpoint", application.endpoint),
            ("serves", _served(application, titles)),
            ("pinned", _pinned(application)),
            *_after_release(application, titles),
            *_on_test_rows(application),
            *_search(application, titles),
            ("notes", "\n".join(application.notes)),
            ("error", error),
        ]
    )


def _after_release(application: Application, titles: Titles) -> list[tuple[str, str]]:
    """Return what is compared with the model before, and the newest return, by name."""
    shown = []
    for one in application.released:
        model, before = titles.of(one.model), titles.of(one.before)
        if one.state == RolloutState.RUNNING:
            told = f"{model} beside {before}, since {moment(one.created)}. {one.says}"
            shown.append(("after release", told))
        else:
            told = f"from {model} to {before}, {moment(one.ended)}. {one.says}"
            shown.append(("returned", told))
    return shown


def _limits_of(application: Application) -> str:
    """Return what the caller may do, where that is not all; empty where it is, or is not told."""
    words = {Permission.LOOK: "look and predict", Permission.LABEL: "answer questions"}
    if Permission.CHANGE in application.may:
        return ""
    return ", ".join(words[one] for one in application.may)


def _on_test_rows(application: Application) -> list[tuple[str, str]]:
    """Return the honest numbers by name, if test rows were read: in their unit, and as a score."""
    found = application.test_quality
    if found is None:
        return []
    span = f"{score(found.low)} to {score(found.high)}"
    as_score = ("test score", f"{score(found.value)} ({span}), where 1 is best")
    measure = found.measure
    if measure is None:
        return [as_score]
    better = ", lower is better" if measure.lower_is_better else ""
    value = f"{in_unit(measure, application.target)} ({interval(measure)}{better})"
    older = ", older than those that it was adapted to" if found.adapted else ""
    return [
        (
            f"test {called(application.objective)}",
            f"{value} on {found.rows:,} test rows{older}, {times_read(found)}",
        ),
        ("compared", against_baseline(measure)),
        as_score,
    ]


def _search(application: Application, titles: Titles) -> list[tuple[str, object]]:
    """Return what the search of an application does, by name."""
    best = best_found(application)
    shown: list[tuple[str, object]] = [
        ("best so far", f"{best} on {best_judged_on(application)} (optimistic)" if best else None),
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


def _served(application: Application, titles: Titles) -> str:
    """Return what answers requests, and which rows it learned from."""
    model = application.live_model
    if model is None:
        return "nothing yet"
    served = f"{titles.of(model.name)} ({model.id})"
    members = ", ".join(titles.of(member.name) for member in model.members)
    if members:
        served += f" of {members}"
    if model.refitted:
        served += ", fitted on all rows except the test rows"
    return served


def served_title(application: Application, titles: Titles) -> str | None:
    """Return the title of the model that answers requests; None while there is none."""
    model = application.live_model
    return None if model is None else titles.of(model.name)


def print_answer(answer: "Report | ToolAnswer", said: Sequence[str] = ()) -> None:
    """Print what a lifecycle tool answered, here or in the service; ``said``: notes on the files.

    What it assumes, and notes, go to standard error.
    """
    opening = f"{answer.verdict.capitalize()}. " if answer.verdict else ""
    say(opening + answer.advice)
    print_pairs((one.title, _with_interval(one)) for one in answer.numbers)
    if answer.remedies:
        say("\nWhat to do")
        print_table(_REMEDY, map(_remedy, count(1), answer.remedies))
    for table in answer.tables:
        _print_first_rows(table)
    say_aside(*map("Assumed: {}".format, answer.assumes))
    say_aside(*map("Note: {}".format, (*said, *answer.notes)))


def _print_first_rows(table: "ReportTable | Table") -> None:
    say(f"\n{table.title}")
    rows = list(map(partial(_row_shown, table), table.rows[:_SHOWN_ROWS]))
    print_table(table.columns, rows)
    more = len(table.rows) - _SHOWN_ROWS
    if more > 0:
        say(f"... and {more} more {plural(more, 'row')}.")


def _row_shown(table: "ReportTable | Table", row: Sequence[Any]) -> list[Any]:
    return list(map(partial(_shown, table), table.columns, row))


def _shown(table: "ReportTable | Table", column: str, cell: Any) -> Any:
    """Return a cell; a value of a row as files have it, without marks between thousands."""
    if column not in table.data or not isinstance(cell, int | float):
        return cell
    return f"{cell:.10g}"


def _remedy(place: int, one: "Remedy | ReportRemedy") -> tuple[object, ...]:
    corrects = f"{one.corrected:.0f} ({one.low:.0f} to {one.high:.0f})"
    return (
        f"{place}. {one.title}",
        corrects,
        f"{one.human_minutes:.0f}",
        f"{one.device_seconds:.0f}",
    )


def _with_interval(one: "ReportNumber | Number") -> str:
    if one.low is not None and one.high is not None:
        return f"{score(one.value)} ({score(one.low)} to {score(one.high)})"
    is_count = isinstance(one.value, int) or abs(one.value) > 1
    if is_count and float(one.value).is_integer():
        return f"{one.value:,.0f}"  # a count
    return score(one.value)


def expected_improvement(application: Application) -> str | None:
    """Return how much score the search still expects to gain, with its error."""
    job = application.job
    if job is None or job.expected_improvement is None:
        return None
    gain = f"{job.expected_improvement:.4f}"
    if job.expected_improvement_error is not None:
        gain += f" ± {job.expected_improvement_error:.4f}"
    return f"{gain} of score"


def _pinned(application: Application) -> str | None:
    """Return that better models are held back, with the command that lets them in again."""
    if not application.pinned:
        return None
    return f"yes, better models wait: easeml app unpin {application.id}"
