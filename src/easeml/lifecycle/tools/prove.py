"""Is a model better than the one that serves, on rows that came later? Proven by few labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from easeml.lifecycle.held_out import Predicted
from easeml.lifecycle.tool import Fact, Number, Table, Tool, ToolAnswer

if TYPE_CHECKING:
    from easeml.lifecycle.ci import Config, Ledger, Verdict

OLD = "old"
"""The name of the model that serves; all others may replace it."""
_ENOUGH = 20  # labels, before another model that looks better is labelled for first
PROVEN, NOT_PROVEN, MORE = "proven", "not proven", "label more"
_GAIN = "Gain that has to be proven: 0.02 is two of a hundred rows; of numbers, in scales."
_TOLERANCE = "A gain within so much of it need not be told apart."
_LABELS = "Labels that may still be bought: where so many could prove nothing, none is asked for."
_ASSUMES = (
    "The labels are right, and the rows stand in the same order each time.",
    "The newer rows were drawn like those that will come, and no model has learned their answers.",
)
_ROW = ("Row",)
_TITLES = {"new": "the new model"}  # of a model that has no other name


@dataclass(frozen=True)
class ProveConfig:
    """What has to be proven, and how sure to be."""

    gain: Annotated[float, Field(ge=0, lt=1, description=_GAIN)] = 0.0
    tolerance: Annotated[float, Field(gt=0, lt=1, description=_TOLERANCE)] = 0.01
    reliability: Annotated[
        float, Field(gt=0, lt=1, description="Chance that no model is called better that is not.")
    ] = 0.95
    batch: Annotated[
        int,
        Field(
            ge=1,
            le=1000,
            description="Labels that are asked for at a time.",
            json_schema_extra={"unit": "rows"},
        ),
    ] = 10
    labels: Annotated[
        int, Field(ge=0, le=100_000, description=_LABELS, json_schema_extra={"unit": "labels"})
    ] = 1000


@dataclass(frozen=True)
class Trial:
    """What was found of one model, and what its test wants next.

    ``used``: the places of the rows whose labels its test has looked at.
    """

    name: str
    verdict: Verdict
    is_futile: bool
    used: frozenset[int]

    @property
    def wanted(self) -> tuple[int, ...]:
        """Places of rows whose labels the test waits for."""
        return () if self.is_futile else self.verdict.labels_wanted

    @property
    def labels_used(self) -> int:
        """How many labels its test has looked at."""
        return len(self.used)

    @property
    def gain(self) -> float:
        """The estimated gain over the model that serves; NaN where nothing is known."""
        findings = self.verdict.findings or ()
        return findings[0].estimate if findings else math.nan

    @property
    def says(self) -> str:
        """What is known of the model, in a word or a few."""
        if self.verdict.passed:
            return "better"
        if self.is_futile:
            return "no more labels within the budget could prove it"
        return "waits for labels" if self.wanted else "not proven"


def _ask(config: ProveConfig, facts: Mapping[Fact, Any]) -> tuple[ToolAnswer, ProveConfig]:
    """Test each model against the one that serves, by the labels that are known so far.

    The rows are looked at in one random order. A test stops at the first row whose label it needs
    and does not know, so it does not matter which labels came, in what order, and from whom. The
    model that looks best is labelled for first, so it may also be chosen which test goes on.
    """
    newer: Predicted = facts["newer"]
    told = _configured(config, newer, facts["answers"])
    rivals = [name for name in newer.by if name != OLD]
    # Each of several models has its share of the error: the union bound.
    ledger = _ledger(told, len(newer.answers), math.log(max(1, len(rivals))))
    trials = [_try(ledger, newer, name, config.labels) for name in rivals]
    return _answer(trials, newer, told), config


def _configured(config: ProveConfig, newer: Predicted, answers: Any) -> Config:
    from easeml.lifecycle.ci import read_config

    told = {"reliability": config.reliability, "adaptivity": "none", "batch": config.batch}
    if newer.by[OLD].classes is not None:
        condition = f"n - o > {config.gain} +/- {config.tolerance}"
        return read_config({**told, "condition": condition})
    # An error beyond the spread of the answers counts as that.
    scale = float(answers.std()) or 1.0
    condition = f"o - n > {config.gain * scale} +/- {config.tolerance * scale}"
    return read_config({**told, "condition": condition, "metric": "absolute-error", "scale": scale})


def _ledger(config: Config, rows: int, nats: float) -> Ledger:
    import numpy as np

    from easeml.lifecycle.ci import Spent, open_ledger

    return open_ledger(config, np.zeros(rows, dtype=bool), spent=Spent(nats=nats, seed=config.seed))


def _try(ledger: Ledger, newer: Predicted, name: str, labels: int) -> Trial:
    from easeml.lifecycle.ci import can_pass, commit_digest, score_examples

    new, old = newer.by[name].values.tolist(), newer.by[OLD].values.tolist()
    examples = score_examples(new, old, newer.answers.tolist(), ledger.config)
    commit = commit_digest(new, old)
    verdict, _ = ledger.test(commit, examples)
    is_futile = False
    if verdict.labels_wanted:
        is_futile = not can_pass(ledger, commit, examples, labels)
    needed = ledger.order()
    needed = needed[((newer.by[name].values != newer.by[OLD].values) & newer.known)[needed]]
    used = needed[: verdict.labels_used or 0].tolist()
    return Trial(name, verdict, is_futile, frozenset(used))


def _answer(trials: list[Trial], newer: Predicted, config: Config) -> ToolAnswer:
    """Say which model is proven better, once none that is still open looks better than that."""
    ranked = sorted(trials, key=_hope, reverse=True)
    proven = [trial for trial in ranked if trial.verdict.passed]
    others = [trial for trial in ranked if not trial.verdict.passed]
    wanted = _still_wanted(ranked, proven)
    used = len(frozenset[int]().union(*map(attrgetter("used"), trials)))
    tables = [_standings([*proven, *others], newer)]
    sure = f"at {config.reliability:.0%} reliability, by {used:,} labels"
    if wanted:
        verdict = MORE
        advice = f"Not settled yet. Label the {len(wanted)} rows listed."
        tables.insert(0, _wanted(wanted))
    elif proven:
        verdict = PROVEN
        best = proven[0]
        advice = f"{best.name} is better than what serves, {sure}: {_gain(best, config)}."
    else:
        verdict = NOT_PROVEN
        advice = f"No model is proven better than what serves, {sure}. {_why_not(trials)}"
    return ToolAnswer(
        advice=advice,
        numbers=(
            Number("labels", "Labels used", used),
            Number("rows", "Rows", len(newer.answers)),
        ),
        assumes=_ASSUMES,
        verdict=verdict,
        tables=tuple(tables),
    )


def _still_wanted(ranked: list[Trial], proven: list[Trial]) -> list[int]:
    """Return the rows that the test of the most hopeful open model waits for.

    None where a model is proven that is no less hopeful.
    """
    first = next((trial for trial in ranked if trial.wanted), None)
    if first is None:
        return []
    if proven and _hope(proven[0]) >= _hope(first):
        return []
    return sorted(first.wanted)


def _hope(trial: Trial) -> float:
    """Return the estimated gain of a model, infinite while its test has seen too few labels."""
    if trial.wanted and trial.labels_used < _ENOUGH:
        return math.inf
    if math.isnan(trial.gain):
        return math.inf
    return trial.gain


def _gain(trial: Trial, config: Config) -> str:
    assert trial.verdict.findings  # a model that was proven
    finding = trial.verdict.findings[0]
    low = finding.low
    high = finding.high
    if config.metric.value == "accuracy":
        return f"right on {trial.gain:+.1%} of the rows ({low:+.1%} to {high:+.1%})"
    return f"errors smaller by {trial.gain:.4g} on average ({low:.4g} to {high:.4g})"


def _why_not(trials: list[Trial]) -> str:
    if any(trial.is_futile for trial in trials):
        return "No further label within the budget could prove it. That does not say it is worse."
    return "That does not say that it is worse."


def _wanted(rows: list[int]) -> Table:
    note = "1 is the first row below the heading."
    return Table("Rows to label next", _ROW, tuple((row + 1,) for row in rows), note, data=_ROW)


def _standings(trials: list[Trial], newer: Predicted) -> Table:
    old = newer.by[OLD].values
    rows = []
    for trial in trials:
        differ = float((newer.by[trial.name].values != old).mean())
        rows.append((_TITLES.get(trial.name, trial.name), trial.says, trial.gain, differ))
    columns = ("Model", "Found", "Gain", "Share of rows that change")
    return Table("Models", columns, tuple(rows))


TOOLS = (
    Tool(
        name="prove",
        title="Is it better on newer rows?",
        about="Proves that a model is better than the one that serves on newer rows, by few labels.",
        needs=("answers", "newer"),
        config=ProveConfig,
        open=lambda config: config,
        ask=_ask,
        models="pair",
        yes=PROVEN,
    ),
)
