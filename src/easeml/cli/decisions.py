"""``decisions``: what the scheduler chose, and why."""

import time
from collections.abc import Callable
from typing import Annotated

import typer

from easeml.cli.options import Json
from easeml.cli.output import moment, print_json, say
from easeml.client import Client
from easeml.contract.knowledge import Titles
from easeml.contract.scheduling import Step

_LATEST = 20
_LOOK_SECONDS = 0.5


def register(app: typer.Typer) -> None:
    """Add the command to the root."""
    app.command()(decisions)


def decisions(
    application: Annotated[
        str | None,
        typer.Argument(metavar="[APP]", help="Id or name of an application; all by default."),
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Keep printing new decisions; Ctrl-C ends it.")
    ] = False,
    latest: Annotated[
        int, typer.Option(min=1, max=200, help="How many of the newest to begin with.")
    ] = _LATEST,
    as_json: Json = False,
) -> None:
    """Show what the scheduler chose, with the scores, the runners-up, the rule and a sentence.

    With --follow and --json, one JSON document a line.
    """
    with Client() as client:
        shown = client.scheduler_decisions(application=application, latest=latest).items
        if not follow:
            return _print(client, shown, as_json=as_json)
        as_line = Step.model_dump_json if as_json else _line_maker(client)
        last = 0
        while True:
            for step in shown:
                say(as_line(step))
                last = step.number
            time.sleep(_LOOK_SECONDS)
            shown = client.scheduler_decisions(application=application, after=last).items


def _print(client: Client, shown: list[Step], *, as_json: bool) -> None:
    if as_json:
        return print_json(shown)
    if not shown:
        return say("No decision yet.")
    return say("\n".join(map(_line_maker(client), shown)))


def _line_maker(client: Client) -> Callable[[Step], str]:
    """Return what tells a decision with the titles of the modules of this service."""
    titles = client.module_titles()
    return lambda step: _told(step, titles)


def _told(step: Step, titles: Titles) -> str:
    """Return a decision as lines: the sentence, then what was compared."""
    sentence = titles.in_sentence(step.sentence, step.candidate)
    lines = [f"{step.number}  {moment(step.moment)}  {sentence}."]
    lines.append(f"    rule: {step.rule} ({step.policy}); {_outcome(step)}")
    for place, one in enumerate(step.candidates, start=1):
        belief = f"expected score {one.mean:.3f} ± {one.sd:.3f}, {one.cost:.3g} s"
        lines.append(f"    {place}. {titles.of(one.name)}: {one.score:.4g} ({belief})")
    rates = [f"{one.tenant} {one.rate:.2g}" for one in step.rivals if not one.chosen]
    if rates:
        lines.append(f"    others, gain a second: {', '.join(rates)}")
    return "\n".join(lines)


def _outcome(step: Step) -> str:
    if step.quality is not None:
        return f"it reached a score of {step.quality:.3f} in {step.seconds or 0:.3g} s"
    if step.state:
        return f"it is {step.state}"
    return "it is not known how it went"
