"""What the rules of an application leave of the knowledge base: models, and their spaces."""

from dataclasses import replace
from itertools import filterfalse
from operator import attrgetter

from easeml.errors import InvalidInput
from easeml.modules import ModelMatch, Module, Registry, labels_of
from easeml.schema import Schema
from easeml.service.knowledge import knowledge_base
from easeml.service.knowledge.trials import width
from easeml.store import Tables, Transaction
from easeml.store.records import Application, DatasetVersion, Json
from easeml.store.shapes import Rules

NO_WEIGHTS = "It does not learn from weights of rows, which this data has."
NOT_MONOTONIC = "It cannot be held to rise or fall with a column, as the rules ask."
_CODES = "table-codes"  # the transform that keeps each number a feature of its own


def matching(
    registry: Registry, schema_in: Schema | Json, schema_out: Schema | Json, rules: Rules
) -> list[ModelMatch]:
    """Return every model against a pair of schemas; those that cannot keep the rules do not fit."""
    return [kept_to(match, rules) for match in registry.models_for(schema_in, schema_out)]


def kept_to(match: ModelMatch, rules: Rules) -> ModelMatch:
    """Return a model against schemas; it does not fit where it cannot keep the rules."""
    if not match.fits:
        return match
    if rules.weight and not match.module.weights:
        return replace(match, fits=False, why_not=NO_WEIGHTS)
    if not rules.monotonic or _can_be_monotonic(match):
        return match
    return replace(match, fits=False, why_not=NOT_MONOTONIC)


def _can_be_monotonic(match: ModelMatch) -> bool:
    chain = [module.name for module in match.transforms]
    return match.module.monotonic and chain == [_CODES]


def allowed_models(models: list[ModelMatch], rules: Rules) -> list[ModelMatch]:
    """Return the models that fit and that the rules allow."""
    return [match for match in models if match.fits and _allow(rules, match.module.name)]


def _allow(rules: Rules, model: str) -> bool:
    if model in rules.exclude:
        return False
    return rules.models is None or model in rules.models


def check_monotonic(rules: Rules, schema_in: Json, schema_out: Json) -> None:
    """Check that predictions can follow the columns that the rules name.

    Raises ``InvalidInput`` for a column that is no input or no number, and a target of which more
    and less is not to be told: one of more than two classes, or a tensor.
    """
    if not rules.monotonic:
        return
    if not _can_rise_and_fall(schema_out):
        raise InvalidInput(
            "What rises and falls is a number, or the probability of one of two classes; this target "
            "is neither.",
            where="monotonic",
            remedy="Leave the rule out, or make the target one of two classes.",
        )
    columns = {node.get("column", name): node for name, node in schema_in["nodes"].items()}
    for column in rules.monotonic:
        _check_number(column, columns)


def _check_number(column: str, columns: dict[str, Json]) -> None:
    """Raise ``InvalidInput`` unless one of the input columns has this name, and is a number."""
    message = f"There is no input column {column!r}."
    knowledge_base.check_known(column, columns, message, "monotonic")
    node = columns[column]
    if node["type"] != "tensor" or node.get("dim") != [1]:
        raise InvalidInput(
            f"The column {column!r} is not a number: nothing can rise with it.",
            where="monotonic",
            remedy=f"Declare it as one (--set '{column}=number'), or leave the rule out.",
        )


def _can_rise_and_fall(schema_out: Json) -> bool:
    """Tell whether the answer is a number, or one of two classes."""
    labels = labels_of(schema_out)
    if labels is not None:
        return len(labels) == 2
    answer = next(iter(schema_out["nodes"].values()))
    return answer.get("dim") == [1]


def space_of(model: Module, rules: Rules, version: DatasetVersion | None = None) -> Json | None:
    """Return a model's space as an application's rules constrain it, on the rows of a version.

    Returns None where the space no longer has what they name.
    """
    rows = columns = 0
    if version is not None:
        rows, columns = version.summary.rows or 0, width(version.columns)
    try:
        return model.space_on(rows, columns, rules.constrain.get(model.name))
    except InvalidInput:
        return None


def with_model(tables: Tables, application: Application, model: str, registry: Registry) -> Rules:
    """Return the rules of an application that allow ``model`` as well.

    Raises ``InvalidInput`` unless it fits.
    """
    rules = application.rules
    version = tables.versions.get(application.version_id)
    found = matching(registry, version.schema_in, version.schema_out, rules)
    matches = {match.module.name: match for match in found}
    knowledge_base.check_known(model, matches, f"There is no model {model!r}.", "model")
    check_fits(matches[model], "model")
    only = rules.models
    if only is not None and model not in only:
        only = [*only, model]
    exclude = [name for name in rules.exclude if name != model]
    return replace(rules, models=only, exclude=exclude)


def left_out(tx: Transaction, application: Application) -> list[str]:
    """Return the models that an application's rules leave out, and that could be let in.

    Where only some models were named, that is every other one that fits.
    """
    rules = application.rules
    version = tx.scoped(application.tenant_id).versions.get(application.version_id)
    if rules.models is None or not version.schema_out:
        return rules.exclude
    registry = knowledge_base.of_tenant(tx, application.tenant_id)
    everything = replace(rules, models=None, exclude=[])
    found = matching(registry, version.schema_in, version.schema_out, everything)
    fitting = allowed_models(found, everything)
    named = allowed_models(fitting, rules)
    others = filterfalse(named.__contains__, fitting)
    return list(map(attrgetter("module.name"), others))


def check_fits(match: ModelMatch, where: str) -> None:
    """Raise ``InvalidInput`` unless a model fits."""
    if not match.fits:
        message = f"The model {match.module.name} does not fit: {match.why_not}"
        raise InvalidInput(message, where=where)
