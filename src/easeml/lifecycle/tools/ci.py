"""May a new model replace the one that serves? By its test rows, which each answer wears out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from easeml.errors import InvalidInput
from easeml.lifecycle.held_out import Predicted
from easeml.lifecycle.tool import Fact, Number, Table, Tool, ToolAnswer

if TYPE_CHECKING:
    from easeml.lifecycle.ci import Config, Ledger, Verdict

_CONDITION = "On n, accuracy of the new model, o, of the old one, and d, the share that differs; \
of a group as in n[sex = female]."
_SCALE = "Of absolute-error: the largest error that counts."
_SHARED = (
    "The test rows were drawn like what will come, and chose no model; nobody chose one by the \
test quality that is shown of live models."
)


@dataclass(frozen=True)
class CiConfig:
    """What has to hold, and how sure to be. Other values begin another series on the same rows."""

    condition: Annotated[str, Field(max_length=1000, description=_CONDITION)] = (
        "n - o > -0.05 +/- 0.05"
    )
    reliability: Annotated[
        float, Field(gt=0, lt=1, description="Chance that no answer of the series is wrong.")
    ] = 0.95
    steps: Annotated[
        int,
        Field(
            ge=1,
            le=1000,
            description="New models to be tested.",
            json_schema_extra={"unit": "models"},
        ),
    ] = 5
    mode: Annotated[
        Literal["fp-free", "fn-free"],
        Field(description="fp-free: in doubt a model fails; fn-free: it passes."),
    ] = "fp-free"
    metric: Annotated[
        Literal["accuracy", "f1", "absolute-error"], Field(description="What n and o measure.")
    ] = "accuracy"
    positive: Annotated[str, Field(max_length=1000, description="Of f1: its class.")] = "1"
    scale: Annotated[float, Field(gt=0, description=_SCALE)] = 1.0


@dataclass(frozen=True)
class Ledgers:
    """The ledgers of the test rows so far, by the digests of their configurations."""

    config: CiConfig
    by_digest: Mapping[str, Ledger] = field(default_factory=dict)


def _ask(state: Ledgers, facts: Mapping[Fact, Any]) -> tuple[ToolAnswer, Ledgers]:
    """Test the new model against the old one; the ledger says what that was worth."""
    from easeml.lifecycle.ci import commit_digest, score_examples

    config = _configured(state.config)
    test: Predicted = facts["test"]
    _check_metric(state.config, test.by["new"].classes is None)
    new, old = test.by["new"].values.tolist(), test.by["old"].values.tolist()
    examples = score_examples(new, old, test.answers.tolist(), config, test.inputs)
    ledger = _ledger(state, config, len(examples), facts["elsewhere"])
    commit = commit_digest(new, old)
    verdict, after = ledger.test(commit, examples)
    following = replace(state, by_digest={**state.by_digest, config.digest: after})
    told = sum(one.given_away().nats for one in following.by_digest.values())
    return _answer(verdict, after, len(examples), told), following


def _check_metric(config: CiConfig, of_numbers: bool) -> None:
    """Raise ``InvalidInput`` for a metric of classes where models predict numbers."""
    if of_numbers and config.metric != "absolute-error":
        raise InvalidInput(
            f"{config.metric} is of classes, and these models predict numbers.",
            where="metric",
            remedy="Choose the metric absolute-error, and as its scale how far off a model may be.",
        )


def _configured(config: CiConfig) -> Config:
    from easeml.lifecycle.ci import read_config

    told = {"condition": config.condition, "reliability": config.reliability}
    told |= {"steps": config.steps, "mode": config.mode, "metric": config.metric}
    if config.metric == "f1":
        told["positive"] = config.positive
    if config.metric == "absolute-error":
        told["scale"] = config.scale
    return read_config({**told, "adaptivity": "full"})


def _ledger(state: Ledgers, config: Config, examples: int, elsewhere: float) -> Ledger:
    """Return the ledger of this configuration, which counts what the others told of the rows."""
    from easeml.lifecycle.ci import Spent, open_ledger

    others = [one for digest, one in state.by_digest.items() if digest != config.digest]
    nats = elsewhere + sum(one.given_away().nats for one in others)
    known = state.by_digest.get(config.digest)
    if known is not None:
        return known.beside(Spent(nats=nats, seed=known.seed))
    seed = others[0].seed if others else None
    return open_ledger(config, np.ones(examples, dtype=bool), spent=Spent(nats=nats, seed=seed))


def _answer(verdict: Verdict, ledger: Ledger, rows: int, told: float) -> ToolAnswer:
    return ToolAnswer(
        advice=verdict.advice.replace("commit", "new model"),
        numbers=(
            Number("rows", "Test rows", rows),
            Number("step", "Models tested", len(ledger.history)),
            Number("left", "Models that can still be tested", verdict.steps_left),
        ),
        assumes=(_SHARED,),
        verdict=verdict.answer,
        figures=(ledger.figure(),),
        tables=(_history(ledger),),
        told=told,
    )


def _history(ledger: Ledger) -> Table:
    rows = []
    for place, step in enumerate(ledger.history):
        rows.append((place + 1, step.answer))
    return Table("Tests so far", ("Step", "Answer"), tuple(rows))


def _save(state: Ledgers) -> bytes:
    documents = {digest: one.to_json() for digest, one in state.by_digest.items()}
    return json.dumps(documents).encode()


def _load(config: CiConfig, kept: bytes) -> Ledgers:
    from easeml.lifecycle.ci import Ledger

    documents = json.loads(kept)
    return Ledgers(config, {digest: Ledger.from_json(one) for digest, one in documents.items()})


TOOLS = (
    Tool(
        name="ci",
        title="May a new model replace it?",
        about="Tests a condition on the old and the new model with a guarantee for a whole series.",
        needs=("test", "elsewhere"),
        config=CiConfig,
        open=Ledgers,
        ask=_ask,
        models="pair",
        check=_check_metric,
        save=_save,
        load=_load,
        yes="pass",
    ),
)
