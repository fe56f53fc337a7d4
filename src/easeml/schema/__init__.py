"""The schema language: what data looks like, what a module takes, and whether the one fits the
other.

A pure room. Schemas are values; outside they are JSON, or a short text for people.
``docs/schema.md`` is the reference.
"""

from easeml.schema._budget import Undecided
from easeml.schema._explain import why_not
from easeml.schema._generate import generate
from easeml.schema._match import Match, match, match_both
from easeml.schema._model import (
    TYPES,
    CategoryClass,
    Constraints,
    Dim,
    Field,
    Link,
    Node,
    Schema,
    SchemaError,
    SchemaWarning,
    node_names,
)
from easeml.schema._samples import Sample, Samples, Tensor, TensorShape, Value, schema_of_samples
from easeml.schema._text_read import parse_text

__all__ = [
    "TYPES",
    "CategoryClass",
    "Constraints",
    "Dim",
    "Field",
    "Link",
    "Match",
    "Node",
    "Sample",
    "Samples",
    "Schema",
    "SchemaError",
    "SchemaWarning",
    "Tensor",
    "TensorShape",
    "Undecided",
    "Value",
    "generate",
    "match",
    "match_both",
    "node_names",
    "parse_text",
    "schema_of_samples",
    "why_not",
]
