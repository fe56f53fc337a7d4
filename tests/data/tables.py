"""Small tables for the tests of this room."""

import json
import random
from pathlib import Path

from easeml.data import Declared, declare, infer_table, read_table
from easeml.schema import Schema


def write(folder: Path, text: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def people(rows: int = 60) -> str:
    """Identifier, number with gaps, category, text, date, constant, and a target of three classes."""
    rng = random.Random(0)
    lines = ["id,age,job,story,born,country,kind"]
    for i in range(rows):
        age = "" if i % 10 == 3 else str(20 + i % 37 + 0.5)
        job = rng.choice(["cook", "clerk", "smith"])
        story = f'"{i} walked, then {rng.choice(["sang", "ran"])} home"'
        lines.append(
            f"u{i:03d},{age},{job},{story},{1 + i % 12}/{1 + i % 28}/1990,CH,{'abc'[i % 3]}"
        )
    return "\n".join(lines) + "\n"


def declared(folder: Path, text: str | None = None, **declaration) -> Declared:
    table = read_table(write(folder, text or people()), "table.csv")
    seen = infer_table(table)
    return declare(table, seen.columns, **{"target": seen.target, **declaration})


def number_schema(*, optional: bool = False) -> tuple[Schema, Schema]:
    node = {"singleton": True, "type": "tensor", "dim": [1]}
    inputs = {"nodes": {"a": {**node, "column": "A", "optional": optional}}, "dropped": ["id"]}
    return Schema.from_json(inputs), Schema.from_json({"nodes": {"y": {**node, "column": "Y"}}})


def body(*rows: dict) -> bytes:
    return json.dumps({"rows": rows}).encode()
