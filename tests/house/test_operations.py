"""A use case is described once: its route, client method and reference are made of that.

What only passes on and is written by hand all the same has a reason here.
"""

import ast
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from easeml.api.app import OPERATIONS
from easeml.client import AsyncClient, Client

pytestmark = pytest.mark.xdist_group("sources")  # all of them are read once

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "easeml"
MADE = {"operations.py"}  # by scripts/client.py
VERBS = {"get", "post", "put", "patch", "delete", "head"}

ROUTES = {
    "get_liveness": "machines ask it, without a client",
    "get_upload": "the answer is headers alone (tus)",
    "stream_changes": "the answer is a stream",
    "ask_tool": "the method takes the parameters of the tool as its own",
    "ask_tool_before_start": "likewise",
}
METHODS = {
    "url": "no request",
    "aclose": "no request",
    "connect_identity": "its route asks the identity provider",
    "ask_tool": "takes the parameters of the tool as its own",
    "train_rows": "a second method of the route of train rows: all pages, one after another",
    "past_events": "begins after any event, and goes on page by page",
    "task_log": "its route looks into the home",
}


def routes(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Give the functions that a router calls."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        calls = [one.func for one in node.decorator_list if isinstance(one, ast.Call)]
        if any(isinstance(call, ast.Attribute) and call.attr in VERBS for call in calls):
            yield node


def methods(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Give the public methods of the classes of the client, without declarations of overloads."""
    for owner in ast.walk(tree):
        if not isinstance(owner, ast.ClassDef) or owner.name in ("AsyncCalls", "AsyncTransport"):
            continue
        for node in owner.body:
            is_method = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            if is_method and any(ast.unparse(one) == "overload" for one in node.decorator_list):
                continue
            if is_method and owner.name.startswith("Async") and not node.name.startswith("_"):
                yield node


def only_passes_on(node: ast.FunctionDef | ast.AsyncFunctionDef, most: int) -> bool:
    """Tell whether a function names values, at most ``most - 1``, and calls one thing with them."""
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    named = all(isinstance(one, ast.Assign) for one in body[:-1])
    return len(body) <= most and named and isinstance(body[-1], ast.Return | ast.Expr)


def written(trees: dict[Path, ast.Module], folder: str) -> Iterator[ast.Module]:
    """Give the sources of a folder that are written by hand."""
    for path, tree in trees.items():
        if path.is_relative_to(SOURCES / folder) and path.name not in MADE:
            yield tree


def test_few_routes_only_pass_on(trees: dict[Path, ast.Module]):
    found = []
    for tree in written(trees, "api"):
        found += [node.name for node in routes(tree) if only_passes_on(node, 1)]
    assert set(found) == set(ROUTES)


def test_few_methods_only_pass_on(trees: dict[Path, ast.Module]):
    client = written(trees, "client/_async")
    found = [node for tree in client for node in methods(tree) if only_passes_on(node, 2)]
    assert {node.name for node in found} == set(METHODS)


def test_what_passes_on_is_told_from_what_does_more():
    one = ast.parse("def f(a):\n    'Says.'\n    b = {'a': a}\n    return g(b)").body[0]
    two = ast.parse("def f(a):\n    if a:\n        return g(a)\n    return h(a)").body[0]
    assert isinstance(one, ast.FunctionDef)
    assert isinstance(two, ast.FunctionDef)
    assert only_passes_on(one, 2)
    assert not only_passes_on(one, 1)
    assert not only_passes_on(two, 2)


def test_the_methods_of_the_client_are_current(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "argv", ["client.py", "--check"])
    script = runpy.run_path(str(ROOT / "scripts" / "client.py"))
    assert script["main"]() == 0, "run scripts/client.py"


def test_an_operation_is_a_method_of_both_clients_and_a_section_of_the_reference():
    reference = (ROOT / "docs" / "reference" / "rest.md").read_text("utf-8")
    for operation in OPERATIONS:
        assert hasattr(Client, operation.name)
        assert hasattr(AsyncClient, operation.name)
        assert f"## {operation.method} /api/v1{operation.path}\n" in reference
    assert len({one.name for one in OPERATIONS}) == len(OPERATIONS)
