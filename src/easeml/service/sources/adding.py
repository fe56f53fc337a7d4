"""Datasets whose first version is fetched from elsewhere."""

from dataclasses import asdict

from easeml.contract.datasets import Dataset as DatasetAnswer
from easeml.contract.parameters import OnceKey
from easeml.contract.sources import NewOrigin
from easeml.contract.states import TASKS_UNDER_WAY
from easeml.errors import TooMany
from easeml.fetching import Origin, read_origin
from easeml.service.access.caller import Caller
from easeml.service.access.idempotency import Once
from easeml.service.datasets import datasets
from easeml.service.limits import quotas
from easeml.service.sources import granting
from easeml.service.tasks import requests
from easeml.settings import Settings
from easeml.store import Store, Transaction
from easeml.store.records import Task

FETCH = "fetch"
_MOST = 5  # fetches of a tenant at a time
_SOON = 60.0  # seconds after which one of them may have ended


def add_origin(
    store: Store,
    settings: Settings,
    caller: Caller,
    wish: NewOrigin,
    idempotency_key: OnceKey = None,
) -> DatasetAnswer:
    """Make a dataset of what an address has.

    Its version is ``ingesting`` until that was fetched and read.

    Raises ``InvalidInput`` for an address that is none, or holds a secret; ``NotAllowed`` where no
    connection of the provider's leads there; ``TooMany`` where others have to end first.
    """
    origin = read_origin(wish.address, wish.query)
    once = Once(caller, "origins", idempotency_key, wish)
    with store.write() as tx:
        if earlier := once.earlier(tx):
            return DatasetAnswer(**earlier)
        check_may_fetch(tx, settings, caller.tenant_id, origin)
        told = {"origin": asdict(origin), "header": wish.header, "table": wish.table}
        answer = datasets.add_fetched(tx, caller.tenant_id, wish.name, origin.filename, told)
        request_fetch(tx, caller.tenant_id, answer.version.id, origin)
        once.remember(tx, answer.model_dump())
    return answer


def check_may_fetch(tx: Transaction, settings: Settings, tenant_id: str, origin: Origin) -> None:
    """Raise where the tenant may not fetch ``origin``, or ``TooMany`` where it fetches a lot."""
    granting.check(settings, tx.tenants.get(tenant_id), origin)
    quotas.check_room(tx, tenant_id, 1)
    fetches = requests.of_kind(tx.scoped(tenant_id), FETCH, state=TASKS_UNDER_WAY)
    if len(fetches) >= _MOST:
        raise TooMany(
            f"{_MOST} fetches are under way.", remedy="Wait, or cancel one.", seconds=_SOON
        )


def request_fetch(tx: Transaction, tenant_id: str, subject: str, origin: Origin) -> Task:
    """Ask for what ``origin`` has; ``subject``: the version that it is for."""
    return requests.request(
        tx, tenant_id, FETCH, subject, address=origin.address, query=origin.query
    )
