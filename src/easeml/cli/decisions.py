"""``decisions``: what the scheduler chose, and why."""

import time
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
        bool, typer.Option("--follow", help="Go on with every new decision; Ctrl-C ends it.")
    ] = False,
    latest: Annotated[
        int, typer.Option(min=1, max=200, help="How many to begin with, the newest.")
    ] = _LATEST,
    as_json: Json = False,
) -> None:
    """Show what the scheduler chose, with the scores, the runners-up, the rule and a sentence.

    With --follow and --json, one JSON document a line.
    """
    with Client() as client:
        shown = client.scheduler_decisions(application=application, latest=latest).items
        if as_json and not follow:
            return print_json(shown)
        titles = Titles(titles={}) if as_json else client.module_titles()
        last = 0
        while True:
            for step in shown:
                say(step.model_dump_json() if as_json else _told(step, titles))
                last = step.number
            if not follow:
                break
            time.sleep(_LOOK_SECONDS)
            shown = client.scheduler_decisions(application=application, after=last).items
    return None if last else say("No decision yet.")


def _told(step: Step, titles: Titles) -> str:
    """Return a decision as lines: the sentence, then what was compared."""
    sentence = titles.in_sentence(step.sentence, step.candidate)
    lines = [f"{step.number}  {moment(step.moment)}  {sentence}."]
    lines.append(f"    rule: {step.rule} ({step.policy}); {_outcome(step)}")
    for place, one in enumerate(step.candidates, start=1):
        belief = f"expected score {one.mean:.3f} ± {one.sd:.3f}, {one.cost:.3g} s"
        lines.append(f"    {place}. {titles.of(one.name)}: {one.score:.4g} ({belief})")
    others = [one for one in step.rivals if not one.chosen]
    if others:
        rates = ", ".join(f"{one.tenant} {one.rate:.2g}" for one in others)
        lines.append(f"    others, gain a second: {rates}")
    return "\n".join(lines)


def _outcome(step: Step) -> str:
    if step.quality is not None:
        return f"it reached a score of {step.quality:.3f} in {step.seconds or 0:.3g} s"
    return f"it is {step.state}" if step.state else "it is not known how it went"
