"""The API as tools of the Model Context Protocol, spoken to as a program does: line by line."""

import io
import json
from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient
from furnish import furnish

from easeml.client import Client
from easeml.mcp import serve, tools_of
from easeml.mcp.tools import CHANGING, READING, TOLD

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}}
Speak = Callable[..., list[dict]]


@pytest.fixture
def speak(client: TestClient, ann) -> Speak:
    """Say messages to a server with Ann's key, and return what it answers."""

    def said(*messages: str | dict, may_change: bool = False) -> list[dict]:
        own = Client("http://testserver", ann.key, transport=client._transport)
        lines = [one if isinstance(one, str) else json.dumps(one) for one in messages]
        out = io.StringIO()
        tools = tools_of(own, may_change=may_change)
        serve(tools, TOLD, io.StringIO("\n".join(lines) + "\n"), out)
        return [json.loads(line) for line in out.getvalue().splitlines()]

    return said


def request(method: str, number: int = 1, **params: object) -> dict:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def call(name: str, **arguments: object) -> dict:
    return request("tools/call", name=name, arguments=arguments)


def test_a_conversation(speak: Speak, store, ann) -> None:
    made = furnish(store, ann.caller.tenant_id)
    done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    ping = request("ping", 2)
    hello, pong, listed, found = speak(
        request("initialize", **HELLO), done, "", ping, request("tools/list"), call("applications")
    )
    assert hello["result"]["protocolVersion"] == HELLO["protocolVersion"]
    assert hello["result"]["serverInfo"]["name"] == "easeml"
    assert "tools" in hello["result"]["capabilities"]
    assert pong == {"jsonrpc": "2.0", "id": 2, "result": {}}
    tools = {tool["name"]: tool for tool in listed["result"]["tools"]}
    assert set(tools) == {*READING, "predict"}
    assert all(tool["annotations"]["readOnlyHint"] for tool in tools.values())
    assert tools["next"]["inputSchema"]["required"] == ["application_id"]
    (application,) = found["result"]["structuredContent"]["items"]
    assert application["id"] == made.application_id
    assert json.loads(found["result"]["content"][0]["text"])["more"] is False


def test_an_unknown_version_is_answered_with_the_newest(speak: Speak) -> None:
    (hello,) = speak(request("initialize", protocolVersion="1999-01-01"))
    assert hello["result"]["protocolVersion"] == "2025-06-18"


@pytest.mark.parametrize("name", ["next", "ledger", "suggest", "goal", "leaderboard", "watching"])
def test_what_is_read_of_an_application(speak: Speak, store, ann, name: str) -> None:
    made = furnish(store, ann.caller.tenant_id)
    (answer,) = speak(call(name, application_id=made.application_id))
    assert answer["result"]["isError"] is False, answer
    assert answer["result"]["structuredContent"]


def test_rows_are_predicted(speak: Speak, store, ann, predictor) -> None:
    made = furnish(store, ann.caller.tenant_id)
    (answer,) = speak(call("predict", application_id=made.application_id, rows=[{"size": 1}]))
    assert answer["result"]["structuredContent"]["predictions"] == [1]
    assert json.loads(predictor.seen[-1][3])["rows"] == [{"size": 1}]


def test_changes_need_to_be_allowed(speak: Speak, store, ann) -> None:
    made = furnish(store, ann.caller.tenant_id)
    wish = call("set_goal", application_id=made.application_id, goal="accuracy >= 0.9")
    (refused,) = speak(wish)
    assert refused["error"]["code"] == -32602
    listed, _, goal = speak(
        request("tools/list"),
        wish,
        call("goal", application_id=made.application_id),
        may_change=True,
    )
    changing = [tool for tool in listed["result"]["tools"] if tool["name"] in CHANGING]
    assert len(changing) == len(CHANGING)
    assert not any(tool["annotations"]["readOnlyHint"] for tool in changing)
    assert goal["result"]["structuredContent"]["text"] == "accuracy >= 0.9"


def test_nobody_reaches_what_is_not_theirs(speak: Speak, store, bob) -> None:
    made = furnish(store, bob.caller.tenant_id)
    (answer,) = speak(call("application", application_id=made.application_id))
    assert answer["result"]["isError"] is True
    assert "no such" in answer["result"]["content"][0]["text"].lower()


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("{", -32700),
        ("[]", -32600),
        ('{"id": 1}', -32600),
        ('{"id": 1, "method": "tools/list", "params": [1]}', -32602),
        (request("resources/list"), -32601),
        (call("no-such-tool"), -32602),
    ],
)
def test_what_is_no_request(speak: Speak, message, code: int) -> None:
    refused, pong = speak(message, request("ping", 2))
    assert refused["error"]["code"] == code
    assert pong["result"] == {}  # the conversation goes on


def test_wrong_arguments_are_named(speak: Speak) -> None:
    (answer,) = speak(call("next", application="app_1"))
    said = answer["result"]["content"][0]["text"]
    assert answer["result"]["isError"] is True
    assert "application_id" in said
    assert "application:" in said
