"""What is told with a model that leaves: where it comes from, and how good it is."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, metadata
from typing import Any

from easeml.data import kinds_of
from easeml.schema import Schema


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Origin and quality of a trained model.

    ``version``: number of the data's version. ``quality`` is on rows that ``judged_on`` tells,
    ``test_quality`` on test rows, as a score (1 is best) with its 95 % interval; ``None`` where it was not read.
    ``weight``: the column by which rows count in both; empty: each once. ``retired``: rows that it
    learned from, or could have, that were test rows until tests had worn them out.
    """

    application_id: str
    application: str
    model_id: str
    model: str
    dataset_id: str
    version: int
    objective: str
    quality: float
    test_quality: dict[str, Any] | None = None
    notes: list[str] = field(default_factory=list)
    weight: str = ""
    retired: int = 0
    judged_on: str = "validation rows"

    @classmethod
    def from_json(cls, text: str) -> "ModelFacts":
        """Read what ``to_json`` wrote."""
        return cls(**json.loads(text))

    def to_json(self) -> str:
        """Return a JSON document."""
        return json.dumps(asdict(self), indent=1)


_UNSPECIFIC = "OSI Approved"  # a family of licences


def licence_of(distribution: str) -> str:
    """Return the licence that an installed distribution states; empty where it states none."""
    try:
        told = metadata(distribution).json
    except PackageNotFoundError:
        return ""
    stated = [told.get("license_expression")]
    for classifier in told.get("classifier", ()):
        kind, _, name = classifier.rpartition(" :: ")
        if kind.startswith("License"):
            stated.append(name)
    stated.append(told.get("license"))
    specific = [one for one in stated if one and one != _UNSPECIFIC]
    first = next(iter(specific or filter(None, stated)), "")
    return "".join(str(first).splitlines()[:1])


def card(
    facts: ModelFacts,
    manifest: Mapping[str, Any],
    licences: Mapping[str, str],
    cost: Mapping[str, Any] | None = None,
) -> str:
    """Return the model card in Markdown. ``cost``: of one made smaller, as ``Compressed`` tells."""
    columns = kinds_of(Schema.from_json(manifest["schema_in"]))
    lines = [
        f"# {facts.model} of {facts.application}",
        "",
        f"Trained by easeml {manifest['libraries']['easeml']} on version {facts.version} of the "
        f"data {facts.dataset_id}; model {facts.model_id} of application {facts.application_id}.",
        "",
        "## How good it is",
        "",
        f"- {facts.objective} on {facts.judged_on} (a score, 1 is best; the search has looked at "
        f"them): {_told(facts.quality)}",
        f"- {_test_sentence(facts)}",
        *([f"- Rows count by their weights, of column '{facts.weight}'"] if facts.weight else []),
        *_of_forecast(manifest["pipeline"].get("forecast")),
        *_of_retired(facts),
        *([] if cost is None else _of_smaller(cost)),
        "",
        "## What it takes",
        "",
        *[f"- {name} ({kind})" for name, kind in columns.items()],
        "",
        "## Licences",
        "",
        *[f"- {name}: {stated or 'not stated'}" for name, stated in licences.items()],
    ]
    if facts.notes:
        lines += ["", "## Notes", "", *[f"- {note}" for note in facts.notes]]
    return "\n".join(lines) + "\n"


def _of_forecast(rule: Mapping[str, Any] | None) -> list[str]:
    """Return how test rows were forecast, where they were."""
    if rule is None:
        return []
    return [
        f"- Each row was forecast {rule['ahead']} steps ahead at most, by '{rule['time']}', knowing "
        "what came before and nothing after"
    ]


def _of_retired(facts: ModelFacts) -> list[str]:
    """Return what is said of rows that were test rows before they were learned from."""
    if not facts.retired:
        return []
    return [
        f"- {facts.retired:,} of the rows that could be learned from were test rows, until tests "
        "had worn them out; no figure here is of them"
    ]


def _of_smaller(cost: Mapping[str, Any]) -> list[str]:
    """Return what a model costs that was made smaller; what is told above is of the one before."""
    size, quality = cost["bytes"], cost["quality"]
    return [
        f"- This one was made smaller ({cost['how']}): {size['after']:,} bytes instead of "
        f"{size['before']:,}, which is {cost['saving']:.0%} less; {cost['packed_saving']:.0%} less "
        "where both are packed",
        f"- {quality['after']:.4f} instead of {quality['before']:.4f} on {cost['validation_rows']:,} "
        "validation rows that neither had learned from",
        f"- {said_otherwise(cost)}",
    ]


def said_otherwise(cost: Mapping[str, Any]) -> str:
    """Return how far a model that was made smaller predicts otherwise than before."""
    rows, apart = f"{cost['test_rows']:,} test rows", f"{cost['predicted_otherwise']:.2%}"
    if cost["of_labels"]:
        return f"It predicts {apart} of {rows} otherwise"
    return f"On {rows} its numbers are {apart} of the answers' deviation apart (root mean square)"


def _test_sentence(facts: ModelFacts) -> str:
    found = facts.test_quality
    if found is None:
        return "Test rows: not read for this model."
    interval = f"{_told(found['low'])} to {_told(found['high'])}"
    return f"{facts.objective} on {found['rows']} test rows: {_told(found['value'])} ({interval})"


def _told(score: float) -> str:
    """Return a score to four places. What is less than 1 is never told as 1."""
    shown = min(score, 0.9999) if score < 1 else score
    return f"{shown:.4f}"
