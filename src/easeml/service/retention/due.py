"""What nobody needs any more: read, and nothing changed. A constant number of statements."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain

from easeml.contract.retention import KeptKind
from easeml.service.models import predicted_files
from easeml.service.models.predicted_files import Predicted
from easeml.service.models.retired import FILES
from easeml.settings import Settings
from easeml.store import Tables, Transaction
from easeml.store.records import Report, TrainedModel

from . import facts
from .facts import Facts
from .superseded import DAY, Rule, superseded

MOST = 500  # of a kind that one look lets go

Sizes = Mapping[tuple[str, str], int]
"""Bytes of stored files, by tenant and digest."""


@dataclass(frozen=True, slots=True)
class Item:
    """Something that goes, and why. ``size``: bytes that nothing else of its kind needs."""

    kind: KeptKind
    id: str
    tenant_id: str
    application_id: str
    why: str
    size: int


@dataclass(frozen=True, slots=True)
class Due:
    """What goes: models and files that were predicted, attempts whose logs go, events by age."""

    items: list[Item] = field(default_factory=list)
    models: dict[str, TrainedModel] = field(default_factory=dict)
    reports: dict[str, Report] = field(default_factory=dict)
    logs: list[str] = field(default_factory=list)
    events_before: float = 0.0
    events: int = 0


def find(tx: Transaction, settings: Settings) -> Due:
    """Return what of all tenants goes by the rules, the oldest first, at most ``MOST`` of a kind."""
    known = facts.read(tx, settings)
    tables = tx.unscoped()
    stored = tables.artefacts.pick("tenant_id", "digest", "size")
    sizes = {(tenant_id, digest): size for tenant_id, digest, size in stored}
    models, of_models = _models(known, sizes, tx.now())
    reports, of_reports = _reports(tables, known, sizes, tx.now())
    logs = _logs(tx, settings, sizes)
    before = _events_before(settings, tx.now())
    return Due(
        items=[*of_models, *of_reports, *logs],
        models=models,
        reports=reports,
        logs=[item.id for item in logs],
        events_before=before,
        events=tx.events.count_before(before),
    )


def _events_before(settings: Settings, now: float) -> float:
    """Return the moment before which events go: the beginning of time where all are kept."""
    if settings.keep_event_days == 0:
        return 0.0
    return now - settings.keep_event_days * DAY


def _size(sizes: Sizes, tenant_id: str, digests: Iterable[str]) -> int:
    """Return the bytes of files of a tenant that are there."""
    return sum(sizes.get((tenant_id, digest), 0) for digest in digests)


def _models(known: Facts, sizes: Sizes, now: float) -> tuple[dict[str, TrainedModel], list[Item]]:
    reasons = superseded(known.candidates, known.needed, known.rules, now)
    due = [model for model in known.models if model.id in reasons][:MOST]
    users = Counter(chain.from_iterable(map(_digests, known.models)))
    items = []
    for model in due:
        alone = [digest for digest in _digests(model) if users[digest] == 1]
        item = Item(
            kind=KeptKind.MODELS,
            id=model.id,
            tenant_id=model.tenant_id,
            application_id=model.application_id,
            why=reasons[model.id],
            size=_size(sizes, model.tenant_id, alone),
        )
        items.append(item)
    return {model.id: model for model in due}, items


def _digests(model: TrainedModel) -> set[str]:
    return {getattr(model, name) for name in FILES} - {""}


def _reports(
    tables: Tables, known: Facts, sizes: Sizes, now: float
) -> tuple[dict[str, Report], list[Item]]:
    """Return the reports of predicted files that are old, with what they name."""
    found: dict[str, Report] = {}
    items = []
    for report in tables.reports.list(kind=predicted_files.KIND, limit=None):
        rule = known.rules.get(report.subject)
        if rule is None or not _is_old(report, rule, now):
            continue
        digest = Predicted.from_json(report.value).artefact
        item = Item(
            kind=KeptKind.RESULTS,
            id=report.id,
            tenant_id=report.tenant_id,
            application_id=report.subject,
            why=f"predicted more than {rule.result_days:g} days ago",
            size=_size(sizes, report.tenant_id, [digest]),
        )
        found[report.id] = report
        items.append(item)
        if len(items) == MOST:
            break
    return found, items


def _is_old(report: Report, rule: Rule, now: float) -> bool:
    """Whether results of that age go; with 0 days, none does."""
    return rule.result_days != 0 and now - report.created >= rule.result_days * DAY


def _logs(tx: Transaction, settings: Settings, sizes: Sizes) -> list[Item]:
    if settings.keep_log_days == 0:
        return []
    before = tx.now() - settings.keep_log_days * DAY
    why = f"its attempt ended more than {settings.keep_log_days:g} days ago"
    items = []
    for id, tenant_id, _, *digests in tx.old_logs.list(before, MOST):
        size = _size(sizes, tenant_id, digests)
        items.append(Item(KeptKind.LOGS, id, tenant_id, "", why, size))
    return items
