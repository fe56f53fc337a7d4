"""What one side of a module takes or makes: a schema, one of several, or anything."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from easeml.schema import Schema, why_not

ANYTHING = "anything"

_ANSWERS = 2_000  # remembered: those of all modules to some twenty schemas of data


@dataclass(frozen=True, slots=True)
class Accepts:
    """Schemas of which one has to match; none: anything is taken, whatever the data look like."""

    schemas: tuple[Schema, ...]

    @classmethod
    def from_document(cls, document: Mapping[str, Any] | list[Any] | str) -> "Accepts":
        """Read a schema, a list of schemas of which one has to match, or ``"anything"``.

        Raises ``SchemaError``.
        """
        if document == ANYTHING:
            return cls(())

        several = document if isinstance(document, list) else [document]
        schemas = list(map(Schema.from_json, several))
        return cls(tuple(schemas))

    @property
    def first(self) -> Schema:
        """Return the schema of what a transform makes."""
        return self.schemas[0]

    def why_not(self, source: Schema) -> str:
        """Return one sentence that says why ``source`` does not fit; empty if it fits.

        It is that of the first schema, which is the plainest: of a model of numbers a list, not an
        array of four dimensions.
        """
        return _why_none_fits(self.schemas, source)

    def to_text(self) -> str:
        """Return the short text form."""
        if not self.schemas:
            return ANYTHING
        return " or ".join(schema.to_text() for schema in self.schemas)


@lru_cache(maxsize=_ANSWERS)
def _why_none_fits(schemas: tuple[Schema, ...], source: Schema) -> str:
    """As ``Accepts.why_not``: an application asks the same of all modules at each step of its life."""
    reasons = []
    for schema in schemas:
        reason = why_not(schema, source)
        if not reason:
            return ""
        reasons.append(reason)
    return next(iter(reasons), "")
