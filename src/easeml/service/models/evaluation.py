"""How a trained model does on validation rows."""

from easeml.contract.evaluation import Evaluation, TaskReport
from easeml.modules import load_registry
from easeml.service.access.caller import Caller
from easeml.service.tasks.logs import read_plain
from easeml.store import Store
from easeml.store.records import TrainedModel

_LARGEST_EVALUATION = 5_000_000


def report(store: Store, caller: Caller, task_id: str) -> TaskReport:
    """Return how the model of a task does on validation rows, as far as known.

    Raises ``NotFound``.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        task = tables.tasks.get(task_id)
        model = tables.models.find(task_id=task.id)
    return of_model(store, model)


def of_model(store: Store, model: TrainedModel | None) -> TaskReport:
    """Return how a model does on validation rows; nothing where none was trained."""
    found = None
    if model is not None and model.evaluation:
        path = store.artefacts.path(model.tenant_id, model.evaluation)
        found = Evaluation.model_validate_json(read_plain(path, 0, _LARGEST_EVALUATION))
    titles = {one.name: one.title for one in load_registry().of_kind("objective")}
    return TaskReport(evaluation=found, objectives=titles)
