"""Retired models: how their files go, and how they come back."""

from collections.abc import Mapping

from easeml.errors import Conflict
from easeml.store import Tables, Transaction
from easeml.store.records import Retirement, TrainedModel
from easeml.store.shapes import ModelFiles

FILES = ("artefact", "predictions", "evaluation", "refitted", "refitted_predictions")
UNDO_SECONDS = 24 * 3600.0
_REMOVED = "Its files are removed: nobody needed them."


def retire(tx: Transaction, models: Mapping[str, TrainedModel], sizes: Mapping[str, int]) -> None:
    """Take their files from models, which can be had back for a day.

    ``sizes``: bytes by model. The rows stay, with all that was measured.
    """
    tables = tx.unscoped()
    tables.retirements.add_all([_retirement(one, sizes[one.id]) for one in models.values()])
    for name in FILES:
        tables.models.set_each(name, dict.fromkeys(models, ""))
    errors = {id: f"It is retired; for a day: easeml model keep {id}" for id in models}
    tables.models.set_each("error", errors)


def bring_back(tables: Tables, model: TrainedModel) -> TrainedModel:
    """Return a model with its files, where it was retired less than a day ago.

    Any other model is returned as it is. Raises ``Conflict`` where its files are removed.
    """
    if model.artefact:
        return model
    if tables.retirements.find(id=model.id, kept=False) is None:
        raise Conflict(
            f"The files of {model.name} are removed: nobody needed them.",
            where=model.id,
            remedy="Choose another model, or let the search train it again.",
        )
    held = tables.retirements.hold(model.id)  # nobody erases it meanwhile
    tables.retirements.forget(held.created + 1.0, id=model.id)
    return tables.models.update(model.id, **held.files.to_json())


def erase(tx: Transaction) -> list[str]:
    """Let nothing name the files of models that were retired more than a day ago; return these."""
    tables = tx.unscoped()
    before = tx.now() - UNDO_SECONDS
    waiting = tables.retirements.pick("id", "created", kept=False)
    ids = [id for id, created in waiting if created <= before]
    held = tables.retirements.hold_all(ids)  # none is brought back meanwhile
    tables.retirements.forget(tx.now() + 1.0, id=held, kept=False)
    tables.models.set_each("error", dict.fromkeys(held, _REMOVED))
    return held


def _retirement(model: TrainedModel, size: int) -> Retirement:
    files = ModelFiles(**{name: getattr(model, name) for name in (*FILES, "error")})
    return Retirement(model.id, model.tenant_id, model.application_id, files, size)
