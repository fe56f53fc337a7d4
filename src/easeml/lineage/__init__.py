"""Lineage: a graph of operators on relations that is appended to, planned, run and cached.

``StagedRelation`` (which is ``easeml.Relation``) appends; ``operator`` adds one's own;
``evaluate`` runs a graph, ``FolderCache`` keeps what comes out.
"""

from easeml.lineage.cache import Cache, FolderCache
from easeml.lineage.custom import operator
from easeml.lineage.evaluation import NodeFailed, evaluate
from easeml.lineage.nodes import Node, Operator, ordered
from easeml.lineage.plan import optimised
from easeml.lineage.staged import StagedRelation

__all__ = [
    "Cache",
    "FolderCache",
    "Node",
    "NodeFailed",
    "Operator",
    "StagedRelation",
    "evaluate",
    "operator",
    "optimised",
    "ordered",
]
