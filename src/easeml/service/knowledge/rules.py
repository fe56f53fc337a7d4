"""What the rules of an application leave of the knowledge base: models, and their spaces."""

from dataclasses import replace

from easeml.errors import InvalidInput
from easeml.modules import ModelMatch, Module, Registry
from easeml.search import spaces
from easeml.service.knowledge import knowledge_base
from easeml.store import Tables
from easeml.store.records import Application, Json
from easeml.store.shapes import Rules


def allowed_models(
    models: list[ModelMatch], only: list[str] | None, exclude: list[str]
) -> list[ModelMatch]:
    """Return the models that fit and that the rules allow.

    ``only`` None: all that are not excluded.
    """
    return [
        match
        for match in models
        if match.fits
        and (only is None or match.module.name in only)
        and match.module.name not in exclude
    ]


def space_of(model: Module, rules: Rules) -> Json | None:
    """Return a model's space as an application's rules constrain it.

    Returns None where the space no longer has what they name.
    """
    try:
        return spaces.narrow(model.space, rules.constrain.get(model.name, {}), model.name)
    except InvalidInput:
        return None


def with_model(tables: Tables, application: Application, model: str, registry: Registry) -> Rules:
    """Return the rules of an application that allow ``model`` as well.

    Raises ``InvalidInput`` unless it fits.
    """
    version = tables.versions.get(application.version_id)
    matches = {
        match.module.name: match
        for match in registry.models_for(version.schema_in, version.schema_out)
    }
    if model not in matches:
        raise InvalidInput(
            f"There is no model {model!r}.",
            where="model",
            remedy=knowledge_base.likely(model, matches),
        )
    if not matches[model].fits:
        raise InvalidInput(
            f"The model {model} does not fit: {matches[model].why_not}", where="model"
        )
    rules = application.rules
    only = rules.models
    if only is not None and model not in only:
        only = [*only, model]
    exclude = [name for name in rules.exclude if name != model]
    return replace(rules, models=only, exclude=exclude)
