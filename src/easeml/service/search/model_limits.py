"""Do trained models keep the limits of their application: seconds for a row, bytes, monotonic?

What was measured decides; of what was not trained yet, ``easeml.search.feasible`` says how likely
it keeps them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from easeml.store import Tables
from easeml.store.records import Application, TrainedModel
from easeml.store.shapes import Rules, Shape

LATENCY, SIZE = "latency", "size"


@dataclass(frozen=True, slots=True)
class Taken(Shape):
    """What a task measured of the model that it made: seconds to predict one row."""

    latency: float | None = None


@dataclass(frozen=True, slots=True)
class Held(Shape):
    """What the members of an ensemble were held to, as its task was told."""

    monotonic: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Amounts:
    """What a model takes: ``latency`` in seconds for a row (None: not measured), ``size`` in bytes.

    ``monotonic``: what it was held to in training.
    """

    latency: float | None
    size: int
    monotonic: dict[str, str]


def limits(rules: Rules) -> dict[str, float]:
    """Return the limits on amounts, by name."""
    asked = {LATENCY: rules.latency, SIZE: rules.size}
    return {name: limit for name, limit in asked.items() if limit is not None}


def are_any(rules: Rules) -> bool:
    """Tell whether a model may break the rules by what it is."""
    return bool(limits(rules) or rules.monotonic)


def broken(rules: Rules, amounts: Amounts) -> str:
    """Return which rule a model breaks and by how much, in a sentence; empty for none."""
    latency = amounts.latency
    if rules.latency is not None and latency is not None and latency > rules.latency:
        return f"It takes {1000 * latency:.3g} ms for a row; the limit is {_ms(rules.latency)} ms."
    if rules.size is not None and amounts.size > rules.size:
        return f"Its files have {amounts.size:,} bytes; the limit is {rules.size:,}."
    for column, way in rules.monotonic.items():
        if amounts.monotonic.get(column) != way:
            return f"It was not trained to be {way} with {column}."
    return ""


def amounts_of(tables: Tables, models: Sequence[TrainedModel]) -> dict[str, Amounts]:
    """Return what models take, by id: four statements for any number of them."""
    tasks = dict(tables.tasks.pick("id", "result", id=[model.task_id for model in models]))
    sizes = dict(tables.artefacts.pick("digest", "size", digest=[one.artefact for one in models]))
    asked = [model.candidate_id for model in models if model.candidate_id]
    pipelines = dict(tables.candidates.pick("id", "pipeline", id=asked))
    together = [model.task_id for model in models if not model.candidate_id]
    ensembles = dict(tables.tasks.pick("id", "payload", id=together))
    found = {}
    for model in models:
        if model.candidate_id:
            held = pipelines[model.candidate_id].monotonic
        else:
            held = Held.from_json(ensembles[model.task_id]).monotonic
        latency = Taken.from_json(tasks[model.task_id]).latency
        found[model.id] = Amounts(latency, sizes.get(model.artefact, 0), held)
    return found


def breaking(tables: Tables, rules: Rules, models: Sequence[TrainedModel]) -> dict[str, str]:
    """Return the models, by id, that break a rule, each with the reason."""
    if not are_any(rules) or not models:
        return {}
    found = {}
    for model_id, amounts in amounts_of(tables, models).items():
        reason = broken(rules, amounts)
        if reason:
            found[model_id] = reason
    return found


def keeping(
    tables: Tables, application: Application, models: Iterable[TrainedModel]
) -> list[TrainedModel]:
    """Return the models that keep the rules of their application, in their order."""
    found = list(models)
    breaks = breaking(tables, application.rules, found)
    return [model for model in found if model.id not in breaks]


def measured_arms(
    tables: Tables, models: Sequence[TrainedModel], arms: dict[str, int]
) -> dict[int, dict[str, float]]:
    """Return what the arms of a search took, as ``search.feasible`` reads it.

    ``arms``: by candidate. Of an arm that was trained twice, the last counts.
    """
    found = {}
    amounts = amounts_of(tables, models)
    for model in models:
        arm = arms.get(model.candidate_id)
        if arm is None:
            continue
        took = {SIZE: float(amounts[model.id].size)}
        latency = amounts[model.id].latency
        if latency is not None:
            took[LATENCY] = latency
        found[arm] = took
    return found


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.3g}"
