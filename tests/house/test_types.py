"""What the store keeps has types: states are members of enumerations, JSON is read by its shape.

What is not there yet has a limit that may only go down: lower it with the change that allows it.
"""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("sources")  # all of them are read once

SOURCES = Path(__file__).resolve().parents[2] / "src" / "easeml"
ROOMS = ("store", "service", "kinds", "engine", "api", "client", "web", "cli")
STORING = ("store", "service", "kinds", "engine", "api")
# JSON whose shape others than the store decide: the schema language, kinds, policies, ledgers,
# the wire.
OPEN_JSON = {
    ("IdempotencyKey", "response"),
    ("DatasetVersion", "schema_in"),
    ("DatasetVersion", "schema_out"),
    ("Application", "gates"),
    ("Gate", "ledger"),
    ("Task", "payload"),
    ("Task", "result"),
    ("Task", "measure"),
    ("TrainedModel", "measures"),
    ("Decision", "explanation"),
    ("Report", "value"),
    ("Event", "data"),
    ("Gate", "ledger"),
    ("ProductionRow", "inputs"),
    ("ProductionRow", "answer"),
    ("Feedback", "value"),
}
LOOK_UPS = 6  # what an event tells, in one place each; the kind of a task
STATES = {"state", "lane"}  # fields of records that are enumerations, and of nothing else


def room_of(path: Path) -> str:
    return path.relative_to(SOURCES).parts[0]


def json_fields(nodes: Iterable[ast.AST]) -> set[tuple[str, str]]:
    """Return the fields of records that are JSON without a type, by class."""
    return {
        (record.name, ast.unparse(field.target))
        for record in nodes
        if isinstance(record, ast.ClassDef)
        for field in record.body
        if isinstance(field, ast.AnnAssign) and "Json" in ast.unparse(field.annotation)
    }


def look_ups(nodes: Iterable[ast.AST], fields: set[str]) -> Iterator[int]:
    """Give the lines on which a key of such a field is looked up by its name."""
    for node in nodes:
        if isinstance(node, ast.Subscript) and _is_string(node.slice):
            holder = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            is_get = node.func.attr == "get" and node.args and _is_string(node.args[0])
            holder = node.func.value if is_get else None
        else:
            continue
        if isinstance(holder, ast.Attribute) and holder.attr in fields:
            yield node.lineno


def states_as_strings(nodes: Iterable[ast.AST]) -> Iterator[int]:
    """Give the lines on which a state is compared with a string, or given as one."""
    for node in nodes:
        if isinstance(node, ast.Compare) and _is_state(node.left):
            yield from (node.lineno for one in node.comparators if _has_string(one))
        if isinstance(node, ast.keyword) and node.arg in STATES and _has_string(node.value):
            yield node.value.lineno


def _is_state(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in STATES


def _has_string(node: ast.expr) -> bool:
    parts = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    return any(_is_string(part) for part in parts)


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_json_of_records_has_a_shape(nodes: dict[Path, list[ast.AST]]):
    records = SOURCES / "store" / "records"
    fields = [json_fields(found) for path, found in nodes.items() if path.parent == records]
    assert set.union(*fields) == OPEN_JSON


def test_open_json_is_looked_into_by_its_type(nodes: dict[Path, list[ast.AST]]):
    common = {"value", "inputs", "answer", "ledger"}  # many other things have these
    fields = {field for _, field in OPEN_JSON} - common
    found = [
        (path.name, line)
        for path, within in nodes.items()
        if room_of(path) in STORING
        for line in look_ups(within, fields)
    ]
    assert len(found) <= LOOK_UPS, found


def test_look_ups_are_found():
    source = 'task.payload["kind"]; task.result.get("low"); task.result.get(name); other["kind"]'
    assert len(list(look_ups(ast.walk(ast.parse(source)), {"payload", "result"}))) == 2


def test_states_are_members_of_enumerations(nodes: dict[Path, list[ast.AST]]):
    found = [
        (path.name, line)
        for path, within in nodes.items()
        if room_of(path) in ROOMS
        for line in states_as_strings(within)
    ]
    assert not found


def test_states_as_strings_are_found():
    source = 'job.state == "done"; job.state in ("done",); rows.list(state="done", lane=["x"])'
    assert len(list(states_as_strings(ast.walk(ast.parse(source))))) == 4
    assert not list(states_as_strings(ast.walk(ast.parse("job.state == State.DONE; f(kind='a')"))))
