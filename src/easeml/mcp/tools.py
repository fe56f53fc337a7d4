"""The tools of the MCP server: methods of the client, with arguments as their signatures say."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model

from easeml.client import Client
from easeml.errors import InvalidInput
from easeml.mcp.protocol import Tool

TOLD = (
    "easeml trains models on an application's data and decides honestly which of them serves. "
    "'next' says what to do next and what it would gain; 'ledger' says what has to be proven on "
    "test rows before a model may serve, and how often they may still be asked. Qualities on "
    "validation rows are optimistic; 'test_quality' is not."
)
_MOST = 50  # of a list: a longer one would fill what its reader can keep in mind

READING = {
    "applications": "applications",
    "application": "application",
    "leaderboard": "leaderboard",
    "next": "next_actions",
    "suggest": "suggestions",
    "goal": "goal",
    "ledger": "gates",
    "decisions": "decisions",
    "job": "job",
    "watching": "watch_report",
}
"""Tool to the client's method; none of these changes anything."""

CHANGING = {
    "set_goal": "set_goal",
    "set_gate": "set_gate",
    "remove_gate": "remove_gate",
    "retire_test_rows": "retire_test_rows",
    "include_model": "include_model",
    "try_model": "try_model",
    "roll_back": "roll_back",
    "pin": "pin",
    "unpin": "unpin",
}


def tools_of(client: Client, *, may_change: bool) -> list[Tool]:
    """Return the tools of a signed-in client; those that change something only if it may."""
    tools = []
    for name, method in READING.items():
        tools.append(_tool(name, getattr(client, method), reads_only=True))
    tools.append(_predict(client))
    if not may_change:
        return tools
    for name, method in CHANGING.items():
        tools.append(_tool(name, getattr(client, method), reads_only=False))
    return tools


def _tool(name: str, method: Callable[..., Any], reads_only: bool) -> Tool:
    """Return a method of the client as a tool."""
    arguments = _arguments(name, method)

    def call(given: Mapping[str, Any]) -> Any:
        read = _read(arguments, given)
        values = {field: getattr(read, field) for field in type(read).model_fields}
        return _plain(method(**values))

    said = inspect.cleandoc(method.__doc__ or "")
    return Tool(name, said, arguments.model_json_schema(), reads_only, call)


def _predict(client: Client) -> Tool:
    """Return the tool that asks an endpoint."""
    arguments = create_model(
        "predict",
        __config__=ConfigDict(extra="forbid"),
        application_id=(str, ...),
        rows=(list[dict[str, Any]], ...),
    )

    def call(given: Mapping[str, Any]) -> Any:
        read: Any = _read(arguments, given)
        return _plain(client.predict(read.application_id, read.rows))

    said = "Predict rows, each an object from column to value, with the model that serves."
    return Tool("predict", said, arguments.model_json_schema(), True, call)


def _arguments(name: str, method: Callable[..., Any]) -> type[BaseModel]:
    """Return the arguments of a method as a type that reads and describes them."""
    hints = get_type_hints(method)
    parameters = dict(inspect.signature(method).parameters)
    parameters.pop("idempotency_key", None)
    fields: dict[str, Any] = {}
    for field, parameter in parameters.items():
        default = parameter.default
        if default is inspect.Parameter.empty:
            default = ...  # which pydantic takes for: it has to be given
        fields[field] = (hints[field], default)
    return create_model(name, __config__=ConfigDict(extra="forbid"), **fields)


def _read(arguments: type[BaseModel], given: Mapping[str, Any]) -> BaseModel:
    """Read the arguments of a call. Raises ``InvalidInput`` with all that is wrong."""
    try:
        return arguments.model_validate(given)
    except ValidationError as error:
        faults = []
        for fault in error.errors():
            place = ".".join(map(str, fault["loc"]))
            faults.append(f"{place}: {fault['msg']}")
        raise InvalidInput("; ".join(faults), where="arguments") from error


def _plain(found: Any) -> Any:
    """Return an answer as JSON values; of a list, the first entries and whether there are more."""
    if isinstance(found, BaseModel):
        return found.model_dump(mode="json")
    if not isinstance(found, Iterator | list):
        return TypeAdapter(Any).dump_python(found, mode="json")
    entries = list(islice(found, _MOST + 1))
    shown = list(map(_plain, entries[:_MOST]))
    is_cut = len(entries) > _MOST
    return {"items": shown, "more": is_cut}
