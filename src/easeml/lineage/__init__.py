"""Lineage: a graph of operators on relations that is appended to, planned, run and cached.

``StagedRelation`` (which is ``easeml.Relation``) appends; ``operator`` adds one's own;
``evaluate`` runs a graph, ``FolderCache`` keeps what comes out. ``load_flow`` and ``save_flow`` are
the file form of a graph, ``FlowRuns`` runs one and says what is stale, ``Outputs`` tells what is
kept by its name, ``write_standalone`` and ``write_script`` write what runs elsewhere.
"""

from easeml.lineage.answers import Answer
from easeml.lineage.cache import Cache, FolderCache
from easeml.lineage.custom import operator
from easeml.lineage.evaluation import NodeFailed, evaluate, watched_by
from easeml.lineage.fingerprints import value_digest
from easeml.lineage.flow_files import load_flow, run_operators, save_flow
from easeml.lineage.nodes import Node, Operator, ordered
from easeml.lineage.outputs import Output, Outputs
from easeml.lineage.pictures import as_mermaid, as_svg, as_text
from easeml.lineage.plan import optimised
from easeml.lineage.runs import FlowRuns, StepResult, StepState, changes, records_of
from easeml.lineage.staged import StagedRelation, apply
from easeml.lineage.standalone import write_script, write_standalone
from easeml.lineage.steps import Flow, Step, nodes_of
from easeml.lineage.suggestions import Suggestion, Suggestions

__all__ = [
    "Answer",
    "Cache",
    "Flow",
    "FlowRuns",
    "FolderCache",
    "Node",
    "NodeFailed",
    "Operator",
    "Output",
    "Outputs",
    "StagedRelation",
    "Step",
    "StepResult",
    "StepState",
    "Suggestion",
    "Suggestions",
    "apply",
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
    "run_operators",
    "save_flow",
    "value_digest",
    "watched_by",
    "write_script",
    "write_standalone",
]
