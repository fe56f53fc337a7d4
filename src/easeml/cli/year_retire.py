"""``demo year --retire``: a second year, in which worn-out test rows become train rows."""

from __future__ import annotations

from typing import Any

from easeml.cli import year_story
from easeml.cli.year_story import RENEWED, WORN_OUT, Year, note_decision, right_in
from easeml.contract.gates import Retirement

_LEARN = "test rows learn"


def retirement(year: Year) -> None:
    """The worn-out test rows become train rows, and the search goes on with them."""
    client = year.client
    before = {version.id for version in client.versions(year.application_id)}
    found = client.retire_test_rows(year.application_id, Retirement.model_validate({}))
    now = {version.id for version in client.versions(year.application_id)}
    (made,) = now - before
    client.wait_version_ready(made)
    year.settle()
    train = sum(1 for _ in client.train_rows(year.application_id))
    command = "easeml app gate ID --retire"
    right = right_in(year, 7)
    note_decision(year, "July", _LEARN, command, train_rows=train, said=found.promise, **right)


def beside(year: Year, other: Year) -> None:
    """Say what a year in which worn-out test rows learn brought beside the ``year`` without it."""
    found: dict[str, Any] = {}
    for name, lived in (("without", year), ("retired", other)):
        steps = {step.name: step.numbers for step in lived.steps}
        july = steps.get(_LEARN, steps[WORN_OUT])
        found[f"july_right_{name}"] = july["right"]
        found[f"august_right_{name}"] = steps[RENEWED]["right"]
        found[f"december_right_{name}"] = steps["picked again"]["right_before"]
        found[f"passed_{name}"] = sum(one.get("passed", 0) for one in steps.values())
        found[f"seconds_{name}"] = round(sum(step.seconds for step in lived.steps), 1)
    gains = [_gain(found, month) for month in ("july", "august", "december")]
    year.note(
        "December",
        "what retiring brought",
        f"Where worn-out test rows learned, the share of right answers differed by {gains[0]} "
        f"points in July, {gains[1]} in August, {gains[2]} in December before a model was picked.",
        "easeml demo year --retire",
        rows_measured=year.rows,
        **found,
    )


def _gain(found: dict[str, Any], month: str) -> str:
    gain = found[f"{month}_right_retired"] - found[f"{month}_right_without"]
    return f"{100 * gain:+.1f}"


STEPS = (
    *year_story.QUICK,
    year_story.wrong_labels,
    year_story.wrong_rows_off,
    year_story.drift,
    year_story.worn_out,
    retirement,
    year_story.renewal,
    year_story.december_again,
)
"""What the second year has: the slice of mistakes is of another table."""
