"""Applications over the years: they get another name."""

from easeml.contract.applications import Application
from easeml.contract.parameters import ApplicationName
from easeml.errors import InvalidInput
from easeml.service.access.caller import Caller
from easeml.service.applications import application_views
from easeml.store import Store

LONGEST_NAME = 200


def rename(store: Store, caller: Caller, application_id: str, name: ApplicationName) -> Application:
    """Give an application another name; its id, and so every address, stays.

    Raises ``NotFound``, and ``InvalidInput`` for a name that cannot be shown.
    """
    check_name(name)
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        before = tables.applications.get(application_id)
        if before.name == name:
            return application_views.show(tx, caller, before)
        application = tables.applications.update(application_id, name=name)
        data = {"name": name, "before": before.name, "by": caller.user_id}
        tx.events.append("application.renamed", application_id, data, caller.tenant_id)
        return application_views.show(tx, caller, application)


def check_name(name: str | None) -> None:
    """Raise ``InvalidInput`` for a name that is empty, too long, or cannot be shown."""
    if name is None:
        return
    is_long_enough = 1 <= len(name.strip()) <= LONGEST_NAME
    if not is_long_enough or not name.isprintable():
        raise InvalidInput(f"A name has 1 to {LONGEST_NAME} printable characters.", where="name")
