"""The Model Context Protocol over lines of JSON: what a server of tools has to answer.

https://modelcontextprotocol.io/specification/2025-06-18 (base protocol, lifecycle, tools; the
transport is "stdio"). A message is one line of JSON-RPC 2.0.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TextIO

from easeml.errors import EasemlError
from easeml.version import __version__

VERSIONS = ("2025-06-18", "2025-03-26", "2024-11-05")
"""Of the protocol, the newest first: a caller that knows none of them is offered the newest."""

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602


@dataclass(frozen=True, slots=True)
class Tool:
    """What a program can ask: its arguments as JSON schema, and what answers them."""

    name: str
    said: str
    schema: Mapping[str, Any]
    reads_only: bool
    call: Callable[[Mapping[str, Any]], Any]

    def described(self) -> dict[str, Any]:
        """Return what a list of tools tells of it."""
        return {
            "name": self.name,
            "description": self.said,
            "inputSchema": dict(self.schema),
            "annotations": {"readOnlyHint": self.reads_only},
        }


class _Refused(Exception):
    """A request that cannot be answered: code and message of JSON-RPC."""

    def __init__(self, code: int, said: str):
        self.code = code
        super().__init__(said)


def serve(tools: Sequence[Tool], told: str, lines: TextIO, out: TextIO) -> None:
    """Answer each line of ``lines`` until they end; ``told``: what a caller should know first."""
    known = {tool.name: tool for tool in tools}
    messages = filter(str.strip, lines)
    for line in messages:
        answer = _answer(known, told, line)
        if answer is not None:
            written = json.dumps(answer)
            out.write(f"{written}\n")
            out.flush()


def _answer(tools: Mapping[str, Tool], told: str, line: str) -> dict[str, Any] | None:
    """Return the answer to a message; none to a notification."""
    number = None
    try:
        message = _read(line)
        number = message.get("id")
        if number is None:
            return None
        result = _result(tools, told, message["method"], _params(message))
    except _Refused as refused:
        error = {"code": refused.code, "message": str(refused)}
        return {"jsonrpc": "2.0", "id": number, "error": error}
    return {"jsonrpc": "2.0", "id": number, "result": result}


def _read(line: str) -> dict[str, Any]:
    """Return a message. Raises ``_Refused`` for a line that is none."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _Refused(PARSE_ERROR, f"The line is not JSON: {error}.") from error
    match message:
        case {"method": str()}:
            return message
    raise _Refused(INVALID_REQUEST, "A message is an object with a method.")


def _params(message: Mapping[str, Any]) -> dict[str, Any]:
    params = message.get("params") or {}
    if not isinstance(params, dict):
        raise _Refused(INVALID_PARAMS, "The parameters are no object.")
    return params


def _result(
    tools: Mapping[str, Tool], told: str, method: str, params: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what a method gives."""
    answers: dict[str, Callable[[], dict[str, Any]]] = {
        "initialize": partial(_greeting, told, params),
        "ping": dict,
        "tools/list": partial(_listed, tools),
        "tools/call": partial(_called, tools, params),
    }
    if method not in answers:
        raise _Refused(NO_METHOD, f"There is no method {method!r}.")
    return answers[method]()


def _listed(tools: Mapping[str, Tool]) -> dict[str, Any]:
    return {"tools": [tool.described() for tool in tools.values()]}


def _greeting(told: str, params: Mapping[str, Any]) -> dict[str, Any]:
    version = params.get("protocolVersion")
    if version not in VERSIONS:
        version = VERSIONS[0]
    return {
        "protocolVersion": version,
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": "easeml", "version": __version__},
        "instructions": told,
    }


def _called(tools: Mapping[str, Tool], params: Mapping[str, Any]) -> dict[str, Any]:
    """Call a tool. What easeml refuses is an answer, too: its reader may do better."""
    name = str(params.get("name"))
    arguments = params.get("arguments") or {}
    if name not in tools:
        known = ", ".join(tools)
        raise _Refused(INVALID_PARAMS, f"There is no tool {name!r}. There are: {known}.")
    try:
        structured = tools[name].call(arguments)
    except EasemlError as error:
        return {"content": [_text(str(error))], "isError": True}
    if not isinstance(structured, dict):
        structured = {"items": structured}
    written = json.dumps(structured)
    return {"content": [_text(written)], "structuredContent": structured, "isError": False}


def _text(written: str) -> dict[str, str]:
    return {"type": "text", "text": written}
