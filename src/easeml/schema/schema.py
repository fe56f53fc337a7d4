"""Schemas as people meet them: read, written and matched."""

from __future__ import annotations

from typing import Any

from easeml.optional import if_known
from easeml.schema.matching.match import Match, match
from easeml.schema.notation.json_read import read_json
from easeml.schema.notation.json_write import write_json
from easeml.schema.notation.text_read import read_sides
from easeml.schema.notation.text_write import write_text
from easeml.schema.structure import SchemaError, Structure


class Schema(Structure):
    """One side (input or output) of a dataset, or of what a module takes or makes."""

    @classmethod
    def from_json(cls, obj: Any) -> Schema:
        """Read a schema from its JSON form, which is not changed.

        Unknown keys are ignored with a ``SchemaWarning``.

        Raises: SchemaError: with the dotted path of the fault, such as ``nodes.n1.links.n2``, in
            ``where``.
        """
        return _schema(read_json(obj))

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form; ``Schema.from_json`` of it gives an equal schema."""
        return write_json(self)

    @classmethod
    def from_text(cls, text: str) -> Schema:
        """Read a schema from its short text form, such as ``{age: number?, job: category(12)}``.

        Raises:
            SchemaError: with line and column, or with the path in the JSON form, in ``where``.
        """
        source, target = parse_text(text)
        if target is not None:
            raise SchemaError(
                "expected one schema, found an input and an output.",
                remedy="Leave out '->' and one side.",
            )
        return source

    def to_text(self) -> str:
        """Return the short text form.

        ``Schema.from_text`` of it gives an equal schema, without what it was matched with
        (``src_name``, ``src_dim``, ``src_dims``), which the text form cannot say.
        """
        return write_text(self)

    def match(self, source: Schema) -> Match | None:
        """Can data of the shape ``source`` be fed to this schema? See ``easeml.schema.match``."""
        return match(self, source)


def parse_text(text: str) -> tuple[Schema, Schema | None]:
    """Read a schema, or an input and an output with ``->`` between them.

    For example ``{age: number?} -> category(2)``.

    Raises:
        SchemaError: with line and column, or with the path in the JSON form, in ``where``.
    """
    first, second = read_sides(text)
    return _schema(first), if_known(second, _schema)


def _schema(read: Structure) -> Schema:
    return Schema(read.nodes, read.classes, read.dropped, read.constraints, read.src_dims)
