"""A drill with a restored copy: does every live model load, and predict what it predicted before?"""

import asyncio
import tempfile
from pathlib import Path

from easeml.contract.upkeep import Drilled
from easeml.engine.serving.fetching import fetch
from easeml.engine.serving.tenant import TenantChild, warm_up
from easeml.errors import EasemlError
from easeml.service.modules.environments import MachineEnvironments
from easeml.service.modules.images import MachineImages
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.records import Application, TrainedModel


def drill_live_models(store: Store, settings: Settings) -> list[Drilled]:
    """Load the live model of each application in a serving child of its tenant, as a predictor does.

    A child that loads a model predicts the rows that were kept with it, and compares. Writes
    nothing.
    """
    served = _served(store)
    if not served:
        return []
    warm_up()
    with tempfile.TemporaryDirectory(prefix="drill-") as folder:
        return asyncio.run(_drill(store, settings, Path(folder), served))


def _served(store: Store) -> list[tuple[Application, TrainedModel]]:
    found = []
    with store.read() as tx:
        tables = tx.unscoped()
        for application in tables.applications.list(limit=None):
            if application.live_model_id:
                found.append((application, tables.models.get(application.live_model_id)))
    return found


async def _drill(
    store: Store,
    settings: Settings,
    folder: Path,
    served: list[tuple[Application, TrainedModel]],
) -> list[Drilled]:
    children: dict[str, TenantChild] = {}
    drilled = []
    try:
        for application, model in served:
            tenant_id = application.tenant_id
            models = folder.resolve() / tenant_id / "models"
            child = children.get(tenant_id)
            if child is None or not child.alive:
                models.mkdir(parents=True, exist_ok=True)
                child = TenantChild(settings.predictor_memory, models, settings.isolation)
                children[tenant_id] = child
                await child.start()
            error = ""
            try:
                fetched = await asyncio.to_thread(fetch, store, model, models)
                if images := MachineImages(store, settings.home).of_model(tenant_id, fetched):
                    child.allow(images)
                environments = MachineEnvironments(store, settings.home)
                packages = environments.of_model(tenant_id, fetched, "", models / "environments")
                facts = (model.id, model.name, application.objective, fetched, "", packages)
                await child.load(*facts)
            except EasemlError as failure:
                error = failure.message
            drilled.append(
                Drilled(
                    application_id=application.id,
                    name=application.name,
                    model_name=model.name,
                    error=error,
                )
            )
    finally:
        for child in children.values():
            await child.stop()
    return drilled
