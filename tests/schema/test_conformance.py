"""The public examples of the original language, where they are at hand.

Those on folders are in ``tests/data``.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from easeml.schema import Schema, SchemaError, generate, match, schema_of_samples, why_not

from .schema_oracle import exists, holds

ROOT = Path(__file__).resolve().parents[3] / "shared" / "conformance"
INDEX = (
    json.loads((ROOT / "index.json").read_text("utf-8"))["examples"]
    if (ROOT / "index.json").exists()
    else []
)


def examples(*kinds: str) -> list[Any]:
    found = [pytest.param(e, id=f"{e['kind']}/{e['name']}") for e in INDEX if e["kind"] in kinds]
    return found or [pytest.param(None, marks=pytest.mark.skip(reason="the examples are not here"))]


def load(example: dict[str, Any], key: str) -> Schema:
    return Schema.from_json(json.loads((ROOT / example["files"][key]).read_text("utf-8")))


@pytest.mark.parametrize("example", examples("validate-positive"))
def test_valid(example: dict[str, Any]) -> None:
    schema = load(example, "schema")
    again = Schema.from_json(schema.to_json())
    assert (again, again.src_dims) == (schema, schema.src_dims)


@pytest.mark.parametrize("example", examples("validate-negative"))
def test_invalid(example: dict[str, Any]) -> None:
    with pytest.raises(SchemaError):
        load(example, "schema")


@pytest.mark.parametrize("example", examples("match-positive", "match-negative"))
def test_match(example: dict[str, Any]) -> None:
    wanted, source = load(example, "destination"), load(example, "source")
    found = match(wanted, source)
    assert (found is not None) == (example["kind"] == "match-positive") == exists((wanted, source))
    assert (why_not(wanted, source) == "") == (found is not None)
    if found is None:
        return
    assert holds(wanted, source, found)
    result = found.annotate(wanted, source)
    assert Schema.from_json(result.to_json()) == result
    assert bool(result.src_dims) == bool(example["one_witness"]["dims"])
    assert all(node.src_name for node in result.nodes.values())
    assert all(field.src_name for node in result.nodes.values() for field in node.fields)
    assert all(
        value.src_dim
        for node in result.nodes.values()
        for value in node.values
        if value.type == "tensor"
    )
    assert all(value.src_name for value in result.classes.values())


@pytest.mark.parametrize("example", examples("generate-positive"))
def test_generate(example: dict[str, Any]) -> None:
    schema = load(example, "schema")
    for seed in range(20):
        made = generate(schema, np.random.default_rng(seed), samples=10, instances=10)
        assert schema.match(schema_of_samples(made)) is not None
