"""Which models are superseded: a pure function of what is known of them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from easeml.store import grouped

DAY = 86_400.0  # seconds


@dataclass(frozen=True, slots=True)
class Rule:
    """What is kept: the best ``models`` of the newest search, others and results for some days."""

    models: int
    model_days: float
    result_days: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model that has its files. ``is_sound``: it can be loaded. ``created``: epoch seconds."""

    id: str
    application_id: str
    job_id: str
    standing: float
    created: float
    is_sound: bool = True


def superseded(
    models: Sequence[Candidate], needed: Collection[str], rules: Mapping[str, Rule], now: float
) -> dict[str, str]:
    """Return why models are needed no more, by id.

    ``needed``: models that stay whatever the rules say. ``rules``: by application; models of
    applications without one stay. The newest search of an application is the last one that has
    models here.
    """
    found: dict[str, str] = {}
    for application_id, mine in grouped(models, lambda model: model.application_id).items():
        rule = rules.get(application_id)
        if rule is not None and rule.model_days > 0:
            found |= _of_application(mine, needed, rule, now)
    return found


def _of_application(
    mine: Sequence[Candidate], needed: Collection[str], rule: Rule, now: float
) -> dict[str, str]:
    """Return why models of one application are needed no more, by id."""
    newest = max(model.job_id for model in mine)
    of_newest = [model for model in mine if model.job_id == newest]
    stays = {*needed, *_best(of_newest, rule.models)}
    old = [model for model in mine if now - model.created >= rule.model_days * DAY]
    going = [model for model in old if model.id not in stays]
    return {model.id: _reason(model.job_id == newest, rule) for model in going}


def _best(models: Sequence[Candidate], count: int) -> set[str]:
    sound = [model for model in models if model.is_sound]
    ranked = sorted(sound, key=lambda model: (-model.standing, model.id))
    return {model.id for model in ranked[:count]}


def _reason(is_of_newest: bool, rule: Rule) -> str:
    aged = f"older than {rule.model_days:g} days"
    if is_of_newest:
        return f"not among the best {rule.models} of its search, and {aged}"
    return f"of an earlier search, and {aged}"
