"""One look at all that is kept: what nobody needs any more goes.

Each step is one transaction, and rows go before bytes, so a look that is killed anywhere has done
the first of its steps, and the next one goes on. Several at once do what one does.
"""

from collections import Counter
from dataclasses import asdict

from easeml.contract.retention import Amount, Collected, DueItem, KeptKind, RetentionPlan
from easeml.service.applications import deleting
from easeml.service.datasets import deleting as datasets
from easeml.service.models import retired
from easeml.service.models.predicted_files import Predicted
from easeml.service.production import request_log
from easeml.service.storage import releasing
from easeml.settings import Settings
from easeml.store import Store, Transaction
from easeml.store.records import Report

from . import due, erased_late, erasing
from .due import Due

EVENT = "retention.collected"
_MOST_SHOWN = 200

Counted = Counter[KeptKind]


def plan(store: Store, settings: Settings) -> RetentionPlan:
    """Return what the next look would let go; nothing is changed."""
    with store.read() as tx:
        found = due.find(tx, settings)
    strays = releasing.strays(store, but="artefacts")  # a look lets go of references first
    expired = [upload for _, upload in store.uploads.expired()]
    counts, sizes = _counted(found)
    counts[KeptKind.STRAYS] = len(strays)
    sizes[KeptKind.STRAYS] = sum(file.size for file in strays)
    counts[KeptKind.UPLOADS] = len(expired)
    sizes[KeptKind.UPLOADS] = sum(upload.offset for upload in expired if not upload.digest)
    shown = [DueItem(**asdict(item)) for item in found.items[:_MOST_SHOWN]]
    return RetentionPlan(amounts=amounts(counts, sizes), items=shown)


def look(store: Store, settings: Settings) -> Collected:
    """Let go what nobody needs, and return what that was; bytes are counted as they are removed."""
    counts, sizes = Counted(), Counted()
    counts[KeptKind.UPLOADS], sizes[KeptKind.UPLOADS] = _forget_uploads(store)
    counts[KeptKind.APPLICATIONS] = deleting.erase_old(store)
    datasets.erase_old(store)
    erasing.finish(store)
    erased_late.remove(store, erasing.KIND)
    request_log.forget_old(store)
    _forget_repeats(store)
    with store.read() as tx:
        found = due.find(tx, settings)
    if found.items or found.events:
        with store.write() as tx:
            found = _let_go(tx, settings)
        counts += _counted(found)[0]
    with store.write() as tx:
        counts[KeptKind.RETIRED] = len(retired.erase(tx))
    releasing.release(store)
    strays = releasing.strays(store)
    counts[KeptKind.STRAYS], sizes[KeptKind.STRAYS] = releasing.remove(store, strays)
    if counts[KeptKind.APPLICATIONS]:
        store.clean()  # the log of the database has rows that were erased
    with store.write() as tx:
        answer = Collected(ran=tx.now(), amounts=amounts(counts, sizes), size=sizes.total())
        if answer.amounts:
            tx.events.append(EVENT, "", answer.model_dump(mode="json"), "")
    return answer


def last(tx: Transaction) -> Collected | None:
    """Return what the last look that found something let go."""
    found = tx.events.newest("", [EVENT], limit=1)
    return Collected.model_validate(found[0].data) if found else None


def _let_go(tx: Transaction, settings: Settings) -> Due:
    """Let go what is due by now: it is read again, while no application changes what it serves."""
    tables = tx.unscoped()
    ids = tables.applications.column("id", deleted=None)
    tables.applications.hold_all(ids)
    found = due.find(tx, settings)
    sizes = {item.id: item.size for item in found.items}
    retired.retire(tx, found.models, sizes)
    _forget_reports(tx, found.reports)
    tx.old_logs.forget(found.logs)
    tx.events.forget(found.events_before)
    return found


def _forget_reports(tx: Transaction, reports: dict[str, Report]) -> None:
    """Let go of predicted files, and of the files that they were predicted from."""
    tables = tx.unscoped()
    asked = [Predicted.from_json(report.value).task_id for report in reports.values()]
    payloads = dict(tables.tasks.pick("id", "payload", id=asked))
    without = {id: {**payload, "source": ""} for id, payload in payloads.items()}
    tables.tasks.set_each("payload", without)
    tables.reports.forget(tx.now() + 1.0, id=list(reports))


def _forget_repeats(store: Store) -> None:
    """Forget the answers that a repeated request would get: nobody repeats one after a day."""
    with store.write() as tx:
        tx.unscoped().idempotency.forget(tx.now() - releasing.GRACE_SECONDS)


def _forget_uploads(store: Store) -> tuple[int, int]:
    count = size = 0
    for _, upload in store.uploads.expired():
        upload.path.unlink(missing_ok=True)
        count += 1
        if not upload.digest:
            size += upload.offset
    return count, size


def _counted(found: Due) -> tuple[Counted, Counted]:
    counts, sizes = Counted(), Counted()
    for item in found.items:
        counts[item.kind] += 1
        sizes[item.kind] += item.size
    counts[KeptKind.EVENTS] = found.events
    return counts, sizes


def amounts(counts: Counted, sizes: Counted) -> list[Amount]:
    """Return how many there are of each kind, and their bytes."""
    there = [kind for kind in KeptKind if counts[kind]]
    return [Amount(kind=kind, count=counts[kind], size=sizes[kind]) for kind in there]
