"""Lineage: a graph of operators on relations that is appended to, planned, run and cached.

``StagedRelation`` (which is ``easeml.Relation``) appends; ``operator`` adds one's own;
``evaluate`` runs a graph, ``FolderCache`` keeps what comes out. ``load_flow`` and ``save_flow`` are
the file form of a graph, ``FlowRuns`` runs one and says what is stale.
"""

from easeml.lineage.cache import Cache, FolderCache
from easeml.lineage.custom import operator
from easeml.lineage.evaluation import NodeFailed, evaluate
from easeml.lineage.flow_files import load_flow, save_flow
from easeml.lineage.nodes import Node, Operator, ordered
from easeml.lineage.pictures import as_mermaid, as_svg, as_text
from easeml.lineage.plan import optimised
from easeml.lineage.runs import FlowRuns, StepResult, StepState, changes, records_of
from easeml.lineage.staged import StagedRelation
from easeml.lineage.steps import Flow, Step, nodes_of
from easeml.lineage.suggestions import Suggestion

__all__ = [
    "Cache",
    "Flow",
    "FlowRuns",
    "FolderCache",
    "Node",
    "NodeFailed",
    "Operator",
    "StagedRelation",
    "Step",
    "StepResult",
    "StepState",
    "Suggestion",
    "as_mermaid",
    "as_svg",
    "as_text",
    "changes",
    "evaluate",
    "load_flow",
    "nodes_of",
    "operator",
    "optimised",
    "ordered",
    "records_of",
    "save_flow",
]
