"""The schema language: what data looks like, what a module takes, whether the one fits the other.

A pure room. Schemas are values; outside they are JSON, or a short text for people.
``docs/schema.md`` is the reference.
"""

from easeml.schema.matching.budget import Undecided
from easeml.schema.matching.explain import why_not
from easeml.schema.matching.match import Match, match, match_both
from easeml.schema.samples.generate import generate
from easeml.schema.samples.sample import Sample, Samples, Tensor, TensorShape, Value
from easeml.schema.samples.schema_of_samples import schema_of_samples
from easeml.schema.schema import Schema, parse_text
from easeml.schema.structure import (
    TYPES,
    CategoryClass,
    Constraints,
    Dim,
    Field,
    Link,
    Node,
    SchemaError,
    SchemaWarning,
    node_names,
)

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
