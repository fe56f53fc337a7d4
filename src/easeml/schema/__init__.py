"""The schema language: what data looks like, what a module takes, and whether the one fits the other.

A pure room. Schemas are values; JSON is their only outside form.
"""

from easeml.schema._match import Match, match, why_not
from easeml.schema._model import CategoryClass, Node, Schema, SchemaError, node_names

__all__ = ["CategoryClass", "Match", "Node", "Schema", "SchemaError", "match", "node_names", "why_not"]
