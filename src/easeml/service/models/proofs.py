"""Proofs: an adapted model serves if labels of production prove that it is better than what serves.

Where the application has a gate, that is what has to be proven, and the gate tests it instead.
"""

from easeml.contract.reports import Report
from easeml.contract.states import TASKS_UNDER_WAY
from easeml.service.gates import kept
from easeml.service.models import gating, promotion
from easeml.service.tasks import requests
from easeml.store import Tables, Transaction
from easeml.store.records import Application, TrainedModel
from easeml.store.shapes import Picking

TOOL = "prove"
OLD, PROVEN, MORE = "old", "proven", "label more"  # of the tool


def are_being_made(tables: Tables, picking: Picking) -> bool:
    """Tell whether models are being adapted that a comparison waits for."""
    if picking.models:
        return False
    return bool(tables.tasks.count(id=picking.adapted, state=TASKS_UNDER_WAY))


def adapted_models(tables: Tables, picking: Picking) -> list[TrainedModel]:
    """Return the models that the tasks of an adaptation made, and that can be loaded."""
    return tables.models.list(task_id=picking.adapted, error="", limit=None)


def why_no_proof(tx: Transaction, application: Application, models: list[TrainedModel]) -> str:
    """Return why adapted models are not compared on production; empty where they are.

    An application with a gate lets nothing serve that it has not tested: the gate tests the model.
    """
    if not models:
        return "No way of adapting fits these rows: what serves stays."
    if promotion.is_held(tx.scoped(application.tenant_id), application):
        return "What serves is pinned, and stays."
    if kept.active(tx.scoped(application.tenant_id), application.id) is None:
        return ""
    (model,) = models
    held = gating.hold(tx, application, model)
    if held is not None and held.refusal:
        promotion.refuse(tx, application, model, held.refusal)
        return held.refusal
    if requests.under_way(tx.scoped(application.tenant_id), kept.KIND, application.id):
        return f"The gate of the application tests {model.name}."
    return f"The gate has no time for {model.name} while a search runs, or another model waits."


def decide(tx: Transaction, application: Application, picking: Picking, answer: Report) -> str:
    """Let the model serve that is proven to be better; return what came of it."""
    tables = tx.scoped(application.tenant_id)
    if application.live_model_id != picking.models[OLD]:
        return f"Another model serves by now, and stays. {answer.advice}"
    if answer.verdict != PROVEN:
        return f"What serves stays. {answer.advice}"
    if promotion.is_held(tables, application):
        return f"What serves is pinned, and stays. {answer.advice}"
    standings = next(table for table in answer.tables if table.title == "Models")
    best = tables.models.get(picking.models[str(standings.rows[0][0])])
    promotion.pick(tx, application, best, answer.advice)
    return f"{best.name} serves. {answer.advice}"
