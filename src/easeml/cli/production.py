"""``app log`` and ``app feedback``: what is kept of requests, and what was true of them."""

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from easeml.cli.named_files import read_text
from easeml.cli.options import ApplicationId, Json, checked, comma_separated, given
from easeml.cli.output import print_done, print_found, print_pairs, say, text
from easeml.client import Client
from easeml.client.feedback_files import parts_of, told_of_part
from easeml.contract.label_budgets import LabelBudget, NewLabelBudget
from easeml.contract.picking import NewPicking, PickingRule
from easeml.contract.production import (
    FeedbackKept,
    NewRequestLog,
    RequestLog,
)
from easeml.contract.states import PickingWay
from easeml.contract.watching import Claim, NewWatchLabels, WatchReport


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module to ``app``."""
    app.command()(log)
    app.command()(feedback)
    app.command("watch-report")(watch_report)
    app.command("watch-labels")(watch_labels)
    app.command()(picking)
    app.command()(labels)


def log(
    application_id: ApplicationId,
    *,
    share: Annotated[
        float | None, typer.Option(min=0, max=1, help="Share of the requests to keep; 0: none.")
    ] = None,
    days: Annotated[float, typer.Option(help="How long they are kept.")] = 30.0,
    mask: Annotated[str, typer.Option(help="Columns whose values are not kept, a,b,c.")] = "",
    as_json: Json = False,
) -> None:
    """Keep a share of the requests to an endpoint with its answers, or show what is kept."""
    with Client() as client:
        if share is None:
            found = client.request_log(application_id)
        else:
            wish = NewRequestLog(share=share, days=days, mask=comma_separated(mask))
            found = client.set_request_log(application_id, wish)
    print_found(found, _print, as_json=as_json)


def picking(
    application_id: ApplicationId,
    *,
    way: Annotated[
        str | None,
        typer.Option(help="daily, alert (when watching asks), or off, which ends what runs."),
    ] = None,
    labels: Annotated[
        int | None, typer.Option(min=1, help="Most labels that one may ask for; 100 at first.")
    ] = None,
    now: Annotated[bool, typer.Option("--now", help="Compare the models now.")] = False,
    as_json: Json = False,
) -> None:
    """Let the models that may serve be compared on production, by few labels, and the best serve."""
    with Client() as client:
        changed = given(way=way, labels=labels)
        if changed:
            before = client.picking(application_id)
            told = {
                "way": before.way,
                "labels": before.labels,
                "end": way == PickingWay.OFF,
                **changed,
            }
            wish = checked(NewPicking, told)
            client.set_picking(application_id, wish)
        if now:
            client.pick_now(application_id)
        found = client.picking(application_id)
        print_found(found, partial(_print_picking, client), as_json=as_json)


def labels(
    application_id: ApplicationId,
    *,
    budget: Annotated[
        int | None,
        typer.Option(min=0, help="Most labels that gate and comparisons may buy together."),
    ] = None,
    days: Annotated[float, typer.Option(help="In any so many days.")] = 30.0,
    none: Annotated[bool, typer.Option("--none", help="Let each have its own limit only.")] = False,
    as_json: Json = False,
) -> None:
    """Show the labels that tests have bought of people, or set the budget that they share."""
    with Client() as client:
        if budget is None and not none:
            found = client.label_budget(application_id)
        else:
            wish = checked(NewLabelBudget, {"labels": None if none else budget, "days": days})
            found = client.set_label_budget(application_id, wish)
    print_found(found, _print_labels, as_json=as_json)


def _print_labels(found: LabelBudget) -> None:
    say(found.says)


def _print_picking(client: Client, found: PickingRule) -> None:
    names = {one.name for one in client.models(found.application_id)}
    says = client.module_titles().in_sentence(found.says, *names)
    running = None
    if found.running:
        running = f"{found.models} models on {found.rows} rows, {found.asked} labels asked for"
    print_pairs(
        [
            ("compared", found.way),
            ("labels at most", found.labels),
            ("under way", running),
            ("last", says or None),
        ]
    )


def feedback(
    application_id: ApplicationId,
    file: Annotated[
        Path, typer.Argument(help="Table file: request_id, row, value; or key, value.")
    ],
    value: Annotated[str, typer.Option(help="The column that says what was true.")] = "value",
    at_random: Annotated[
        bool | None,
        typer.Option(
            "--at-random/--not-at-random",
            help="The rows were drawn at random from all rows of their days; or take that back.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say what was true of rows that an endpoint was asked about.

    `easeml predict --name-rows` writes a request_id and a row beside each prediction. Columns with
    other names are left out. With --at-random few rows prove that the model became worse: watching
    takes your word for it, unless the rows look unlike the others. It is kept with your name;
    --not-at-random takes it back, from the next look on.
    """
    content = read_text(file, encoding="utf-8-sig")
    counts = Counter[str]()
    sent = 0
    with Client() as client:
        for part in parts_of(content, str(file), value, at_random=at_random):
            with told_of_part(sent):
                counts.update(client.give_feedback(application_id, part).model_dump())
            sent += len(part.root)
    whole = FeedbackKept(**counts)
    print_done(whole, whole.says, as_json=as_json)


def watch_labels(
    application_id: ApplicationId,
    *,
    rows: Annotated[int, typer.Option(min=1, max=10_000, help="How many rows to draw.")] = 100,
    as_json: Json = False,
) -> None:
    """Ask people about rows of the newest look at production, drawn at random.

    The answers come through the queue of work, and the next look learns from them: few prove that
    the model became worse, or let it be right.
    """
    with Client() as client:
        asked = client.ask_for_watching(application_id, NewWatchLabels(rows=rows))
    print_done(asked, asked.says, as_json=as_json)


def watch_report(
    application_id: ApplicationId,
    *,
    timeout: Annotated[
        float | None, typer.Option(min=0, help="Seconds to wait at most (exit code 3).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Tell whether what serves is still right, by the requests that were kept."""
    with Client() as client:
        before = client.watch_report(application_id)
        if before.waiting or before.late:
            task = client.look_at_production(application_id)
            client.wait_task(task.id, timeout=timeout)
        found = client.watch_report(application_id)
    print_found(found, _print_report, as_json=as_json)


def _print_report(found: WatchReport) -> None:
    say(f"{found.status}: {found.reason}")
    low, high = found.interval or (None, None)
    pairs: list[tuple[str, Any]] = [
        ("right, estimated", _between(found.estimate, low, high)),
        ("right on validation rows", found.reference),
        ("right is off by at most", found.tolerance),
        ("rows", found.rows),
        ("rows asked about", found.asked or None),
        ("moved", [column for column, test in found.drift.items() if test.alarm]),
    ]
    true = found.labelled
    if true is not None:
        title = "F1 by row where the truth came" if true.of_labels else "right where the truth came"
        pairs.append((title, _between(true.quality, true.low, true.high)))
        pairs.append(("rows of these", true.rows))
    pairs += [(f"drawn at random, {claim.by}", _said_of(claim)) for claim in found.claims]
    if found.remedy:
        adapt = f"Adapt it: easeml app adapt {found.application_id}"
        pairs.append(("remedy", f"{found.remedy} {adapt}"))
    print_pairs(pairs)


def _said_of(claim: Claim) -> str:
    """Return what became of somebody's word that rows were drawn at random."""
    rows = f"{claim.rows:,} rows"
    if claim.counts:
        return f"{rows}, which alarms rest on"
    said = f"in {claim.where}, p = {text(claim.p_value)}" if claim.where else ""
    return f"{rows} do not count so: they are unlike the others {said}"


def _between(value: float | None, low: float | None, high: float | None) -> str | None:
    """Return a number with its interval; None where there is none."""
    if value is None:
        return None
    return f"{text(value)} ({text(low)} to {text(high)})"


def _print(found: RequestLog) -> None:
    if not found.share:
        say("No requests are kept. Keep them: easeml app log ID --share 1")
    print_pairs(
        [
            ("share of requests", found.share or None),
            ("days", found.days or None),
            ("masked", found.mask),
            ("rows kept", found.rows),
            ("answers told", found.told),
        ]
    )
    if found.share or found.missed:
        say(found.says_missed)
