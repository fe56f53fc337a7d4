"""What of an application is kept: the form of its rules, and models that stay whatever they say."""

from starlette.responses import Response
from starlette.routing import Route

from easeml.client import made_request
from easeml.contract.retention import NewRetention
from easeml.errors import InvalidInput
from easeml.web.page_context import PageContext, back_to, signed_in

_HERE = "/applications/{application}"


@signed_in
async def set_rule(context: PageContext) -> Response:
    """Change what of the application is kept; an empty field leaves it to the provider."""
    form = await context.form()
    wish = made_request(
        NewRetention,
        models=_count(str(form.get("models", ""))),
        model_days=_days(str(form.get("model_days", "")), "model_days"),
        result_days=_days(str(form.get("result_days", "")), "result_days"),
    )
    await context.client.set_retention(context.path("application"), **wish.model_dump())
    return _back(context)


@signed_in
async def keep(context: PageContext) -> Response:
    """Keep a model whatever the rules say, or leave it to them again."""
    form = await context.form()
    model = str(form.get("model", ""))
    if not model:
        raise InvalidInput("Choose a model.", where="model")
    await context.client.keep_model(model, keep=form.get("release") is None)
    return _back(context)


def _count(text: str) -> int | None:
    if not text.strip():
        return None
    if not text.strip().isdecimal():
        raise InvalidInput("Expected a whole number of models.", where="models")
    return int(text)


def _days(text: str, where: str) -> float | None:
    if not text.strip():
        return None
    try:
        return float(text)
    except ValueError as error:
        raise InvalidInput("Expected a number of days.", where=where) from error


def _back(context: PageContext) -> Response:
    return back_to(f"/applications/{context.path('application')}/settings#kept")


routes = [
    Route(f"{_HERE}/retention", set_rule, methods=["POST"]),
    Route(f"{_HERE}/keep-model", keep, methods=["POST"]),
]
