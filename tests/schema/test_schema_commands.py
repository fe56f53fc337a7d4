"""``easeml schema``: answers, exit codes, one JSON document."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from easeml.cli import schema as commands

app = typer.Typer()
commands.register(app)
FILES = {
    "table.schema": "{age: number?, job: category(12)} -> category(2)\n",
    "model.schema": "{x*: number?, c*: category(n)?} -> category(k)",
    "number.txt": "{x*: number} -> number",
    "sized.txt": "{x: tensor[n]} -> tensor[n]",
    "three.txt": "{a: tensor[3]} -> tensor[3]",
    "four.txt": "{a: tensor[3]} -> tensor[4]",
    "graph.json": '{"nodes": {"g": {"fields": {"f": {"type": "tensor", "dim": ["n"]}}, "links": {"g": [0, "inf"]}}}}',
    "data.yaml": "nodes:\n  h:\n    fields: {p: {type: tensor, dim: [3]}}\n    links: {h: 1}\n",
    "typo.json": '{"nodes": {"a": {"singleton": true, "type": "text", "optinal": true}}}',
    "wrong.json": '{"nodes": {"a": {"singleton": true, "type": "category", "class": "c"}}, "clases": {"c": {}}}',
    "broken.json": '{"nodes": ',
    "broken.txt": "{a: numbr}",
    "broken.yaml": "a: [1",
    "bytes.json": "\udcff",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    return tmp_path


def call(*words: Any, code: int = 0) -> str:
    answer = CliRunner().invoke(app, ["schema", *map(str, words)])
    assert answer.exit_code == code, answer.output
    return answer.stdout


def read(*words: Any, code: int = 0) -> dict[str, Any]:
    return json.loads(call(*words, "--json", code=code))


def test_validate(folder: Path) -> None:
    assert call("validate", folder / "table.schema") == FILES["table.schema"]
    assert call("validate", folder / "graph.json") == "{g: [f: tensor[n]] links {g: 0..inf}}\n"
    found = read("validate", folder / "table.schema")
    assert found["valid"] is True
    assert found["output"]["classes"] == {"value": {"dim": 2}}
    assert read("validate", folder / "typo.json")["warnings"] == [
        "nodes.a.optinal: this key has no meaning and is ignored. Did you mean 'optional'?"
    ]


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("wrong.json", "nodes.a.class"),
        ("broken.json", ""),
        ("broken.txt", "line 1, column 5"),
        ("broken.yaml", ""),
        ("bytes.json", ""),
        ("nothing.json", ""),
    ],
)
def test_invalid_files(folder: Path, name: str, where: str) -> None:
    found = read("validate", folder / name, code=2)
    assert found["valid"] is False
    assert where in found["error"]["where"]
    assert name in found["error"]["where"]
    assert call("validate", folder / name, code=2) == ""
    assert read("match", folder / "graph.json", folder / name, code=2)["matches"] is False


def test_match(folder: Path) -> None:
    assert "age -> x" in call("match", folder / "model.schema", folder / "table.schema")
    found = read("match", folder / "graph.json", folder / "data.yaml")
    assert found["match"] == {
        "nodes": {"h": "g"},
        "fields": {"h": {"p": "f"}},
        "classes": {},
        "variables": {"n": 3},
    }
    assert found["annotated"]["src-dims"] == {"n": 3}


def test_no_match_has_a_reason(folder: Path) -> None:
    assert call("match", folder / "data.yaml", folder / "graph.json", code=1).startswith(
        "No match. 'g' is"
    )
    found = read("match", folder / "number.txt", folder / "table.schema", code=1)
    assert found["matches"] is False
    assert found["reason"] == (
        "Input: 'age' has missing values, and it takes none in a number. "
        "Output: 'value' is a category of 2 classes, and it takes only: a number."
    )


def test_both_sides_share_variables(folder: Path) -> None:
    assert read("match", folder / "sized.txt", folder / "three.txt")["output"]["variables"] == {
        "n": 3
    }
    assert "on both" in call("match", folder / "sized.txt", folder / "four.txt", code=1)
    assert (
        "one file has an output"
        in read("match", folder / "sized.txt", folder / "graph.json", code=2)["error"]["message"]
    )


def test_undecided_is_no_answer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(*_: Any) -> None:
        raise commands.Undecided("too hard.")

    monkeypatch.setattr(commands, "match", give_up)
    found = read("match", folder / "graph.json", folder / "data.yaml", code=3)
    assert found["matches"] is None
    assert found["error"]["message"] == "too hard."


def test_infer(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text(
        "size,kind,price\n" + "".join(f"{i}.5,{'ab'[i % 2]},{i * 3}.25\n" for i in range(60))
    )
    assert " -> " in call("infer", table, "--target", "price")
    found = read("infer", table, "--target", "kind")
    assert found["output"]["classes"] == {"kind": {"dim": 2, "labels": ["a", "b"]}}
    assert found["target"] == {"name": "kind", "sure": True, "reason": "", "rivals": []}
    assert [set(column) for column in found["columns"]] == [
        {"name", "type", "nature", "evidence", "leak"}
    ] * 3
    leak = {
        one["name"]: one["leak"] for one in read("infer", table, "--target", "price")["columns"]
    }
    assert "all but fully" in leak["size"]
    assert leak["kind"] is None
    assert set(read("infer", table, "--target", "colour", code=2)["error"]) == {
        "message",
        "where",
        "remedy",
    }
    for sample in "12":
        (tmp_path / "data" / sample).mkdir(parents=True)
        (tmp_path / "data" / sample / "v.ten.csv").write_text("1,2,3")
    found = read("infer", tmp_path / "data")
    assert (found["text"], found["output"]) == ("{v: tensor[3]} undirected", None)
    (tmp_path / "data" / "3").mkdir()
    assert "expected the node 'v'" in read("infer", tmp_path / "data", code=2)["error"]["message"]
