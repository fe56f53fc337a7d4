"""Is the data of an application being changed?"""

from easeml.contract.states import VersionState
from easeml.store import Tables
from easeml.store.records import Application


def can_change(tables: Tables, application: Application) -> bool:
    """Is the data ready, and nobody changing it?"""
    version = tables.versions.get(application.version_id)
    return version.state == VersionState.READY and not is_changing(tables, application)


def is_changing(tables: Tables, application: Application) -> bool:
    """Is another version being made of the application's data?"""
    ingesting = tables.versions.list(
        dataset_id=application.dataset_id, state=VersionState.INGESTING, limit=None
    )
    return any(version.operation.application_id == application.id for version in ingesting)
