"""What is known of models before it is said which of them go: a constant number of statements."""

import re
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from easeml.contract.states import TASKS_UNDER_WAY, PromotionState, RolloutState
from easeml.settings import Settings
from easeml.store import Tables, Transaction
from easeml.store.records import RetentionRule, TrainedModel
from easeml.store.shapes import given

from .superseded import DAY, Candidate, Rule

EXPORTED = "model.exported"
_MODEL = re.compile(r"mod_[0-9a-z]{20}")


@dataclass(frozen=True, slots=True)
class Facts:
    """Models that have files, which of them are needed, and the rules by application."""

    models: list[TrainedModel]
    needed: set[str]
    rules: dict[str, Rule]

    @property
    def candidates(self) -> list[Candidate]:
        """What decides, of each model."""
        return [
            Candidate(
                id=model.id,
                application_id=model.application_id,
                job_id=model.job_id,
                standing=model.standing,
                created=model.created,
                is_sound=not model.error,
            )
            for model in self.models
        ]


def read(tx: Transaction, settings: Settings) -> Facts:
    """Read what decides on the models of all tenants."""
    tables = tx.unscoped()
    models = [model for model in tables.models.list(limit=None) if model.artefact]
    asked = tables.retention_rules.by_id()
    # What is deleted goes as a whole, once its day to undo is over.
    there = dict(tables.applications.pick("id", "live_model_id", deleted=None))
    rules = {id: in_force(asked.get(id), settings) for id in there}
    live = set(there.values())
    needed = live | _served(tables, live, settings, tx.now()) | _compared(tables)
    needed |= set(tables.retirements.column("id", kept=True))
    if settings.keep_model_days:
        needed |= tx.events.subjects(EXPORTED, tx.now() - settings.keep_model_days * DAY)
    return Facts(models, needed | _worked_on(tables), rules)


def in_force(asked: RetentionRule | None, settings: Settings) -> Rule:
    """Return the rule of an application: what its owner did not say is as the settings say."""
    usual = Rule(settings.keep_models, settings.keep_model_days, settings.keep_result_days)
    if asked is None:
        return usual
    said = given(models=asked.models, model_days=asked.model_days, result_days=asked.result_days)
    return replace(usual, **said)


def _served(tables: Tables, live: set[str], settings: Settings, now: float) -> set[str]:
    """Return the models that served lately, and those that a roll-back would choose."""
    since = now - settings.keep_model_days * DAY
    found: set[str] = set()
    changes = tables.promotions.pick(
        "model_id", "previous_model_id", "created", state=PromotionState.LIVE
    )
    for model_id, previous_id, created in changes:
        if created >= since or model_id in live:
            found.update((model_id, previous_id))
    return found


def _compared(tables: Tables) -> set[str]:
    """Return the models of roll-outs that run, and those that a gate's ledger names."""
    running = tables.rollouts.pick("model_id", "against_id", state=RolloutState.RUNNING)
    compared = set(chain.from_iterable(running))
    gates = tables.gates.pick("ledger", "reserve", ended=False)
    return compared | _named(gates)


def _worked_on(tables: Tables) -> set[str]:
    """Return the models that tasks under way read."""
    return _named(tables.tasks.pick("subject", "payload", state=TASKS_UNDER_WAY))


def _named(values: list[Any]) -> set[str]:
    """Return the ids of models that stand anywhere in some values."""
    return set(_MODEL.findall(repr(values)))
