"""Do trained models keep the limits of their application: seconds for a row, bytes, monotonic?

What was measured decides; of what was not trained yet, ``easeml.search.feasible`` says how likely
it keeps them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from easeml.store import Tables
from easeml.store.records import Application, TrainedModel
from easeml.store.shapes import Rules, Shape, given

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

    @property
    def measured(self) -> dict[str, float]:
        """What is known of amounts, by the names of their limits."""
        return given(**{LATENCY: self.latency, SIZE: float(self.size)})


def limits(rules: Rules) -> dict[str, float]:
    """Return the limits on amounts, by name."""
    return given(**{LATENCY: rules.latency, SIZE: rules.size})


def are_any(rules: Rules) -> bool:
    """Tell whether a model may break the rules by what it is."""
    return bool(limits(rules) or rules.monotonic)


def broken(rules: Rules, amounts: Amounts) -> str:
    """Return which rule a model breaks and by how much, in a sentence; empty for none."""
    for name, limit in limits(rules).items():
        amount = amounts.measured.get(name, 0.0)
        if amount > limit:
            return _TOO_MUCH[name](amount, limit)
    for column, way in rules.monotonic.items():
        if amounts.monotonic.get(column) != way:
            return f"It was not trained to be {way} with {column}."
    return ""


def _too_slow(took: float, limit: float) -> str:
    return f"It takes {_ms(took)} ms for a row; the limit is {_ms(limit)} ms."


def _too_large(size: float, limit: float) -> str:
    return f"Its files have {size:,.0f} bytes; the limit is {limit:,.0f}."


_TOO_MUCH = {LATENCY: _too_slow, SIZE: _too_large}


def amounts_of(tables: Tables, models: Sequence[TrainedModel]) -> dict[str, Amounts]:
    """Return what models take, by id: four statements for any number of them."""
    results = dict(tables.tasks.pick("id", "result", id=[model.task_id for model in models]))
    sizes = dict(tables.artefacts.pick("digest", "size", digest=[one.artefact for one in models]))
    held = _held(tables, models)
    found = {}
    for model in models:
        latency = Taken.from_json(results[model.task_id]).latency
        size = sizes.get(model.artefact, 0)
        found[model.id] = Amounts(latency, size, held[model.id])
    return found


def _held(tables: Tables, models: Sequence[TrainedModel]) -> dict[str, dict[str, str]]:
    """Return what models were held to in training, by id; only ensembles have no candidate."""
    asked = [model.candidate_id for model in models]
    pipelines = dict(tables.candidates.pick("id", "pipeline", id=asked))
    together = [model.task_id for model in models if not model.candidate_id]
    payloads = dict(tables.tasks.pick("id", "payload", id=together))
    held = {}
    for model in models:
        if model.candidate_id:
            held[model.id] = pipelines[model.candidate_id].monotonic
        else:
            held[model.id] = Held.from_json(payloads[model.task_id]).monotonic
    return held


def breaking(tables: Tables, rules: Rules, models: Sequence[TrainedModel]) -> dict[str, str]:
    """Return the models, by id, that break a rule, each with the reason."""
    if not are_any(rules):
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
        if model.candidate_id in arms:
            found[arms[model.candidate_id]] = amounts[model.id].measured
    return found


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.3g}"
