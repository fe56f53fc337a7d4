"""Retention, as providers see it and as owners of applications set it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated

from pydantic import Field

from easeml.contract.models import TrainedModel
from easeml.contract.retention import (
    Amount,
    Collected,
    KeptKind,
    NewRetention,
    Retention,
    RetentionPlan,
)
from easeml.errors import Conflict
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.models import retired
from easeml.service.models.predicted_files import KIND, Predicted
from easeml.service.models.trained_models import show_models
from easeml.settings import Settings
from easeml.store import Store, Tables, Transaction
from easeml.store.records import RetentionRule, Retirement

from . import facts, looks

LEASE = "retention"
_LEASE_SECONDS = 900.0
_PREDICTIONS = ("predictions", "evaluation", "refitted_predictions")  # files of a model

Keep = Annotated[bool, Field(description="keep it whatever the rules say, or as they say")]


def plan(store: Store, settings: Settings, caller: Caller) -> RetentionPlan:
    """Return what would go with the next look, why, and how many bytes (providers only).

    Nothing is changed. Raises ``NotAllowed``.
    """
    caller.require_provider()
    return looks.plan(store, settings)


def collect(store: Store, settings: Settings, caller: Caller) -> Collected:
    """Let go now what nobody needs, and return what that was (providers only).

    It happens every ten minutes by itself. Raises ``NotAllowed``, and ``Conflict`` while that is.
    """
    caller.require_provider()
    with alone(store, new_id("ret")) as is_alone:
        if not is_alone:
            raise Conflict("A look is under way.", remedy="Try again in a moment.")
        return looks.look(store, settings)


@contextmanager
def alone(store: Store, holder: str) -> Iterator[bool]:
    """Hold the right to let things go, where nobody else has it; gives whether it is held."""
    with store.write() as tx:
        lease = tx.leases.acquire(LEASE, holder, _LEASE_SECONDS)
    try:
        yield lease is not None
    finally:
        if lease is not None:
            with store.write() as tx:
                tx.leases.release(LEASE, holder)


def get_rule(store: Store, settings: Settings, caller: Caller, application_id: str) -> Retention:
    """Return what of an application is kept. Raises ``NotFound``."""
    with store.read() as tx:
        return _show(tx.scoped(caller.tenant_id), settings, application_id)


def set_rule(
    store: Store, settings: Settings, caller: Caller, application_id: str, wish: NewRetention
) -> Retention:
    """Say what of an application is to be kept from now on. Repeated, it changes nothing.

    Raises ``NotFound``.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        changes = wish.model_dump()
        rule = RetentionRule(application.id, application.tenant_id, **changes)
        tables.retention_rules.ensure(rule)
        tables.retention_rules.update(application.id, **changes)
        return _show(tables, settings, application_id)


def keep_model(store: Store, caller: Caller, model_id: str, *, keep: Keep = True) -> TrainedModel:
    """Keep a model whatever the rules say, or leave it to them again.

    One that was retired less than a day ago has its files back. Repeated, it changes nothing.
    Raises ``NotFound``, and ``Conflict`` where its files are removed.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        model = tables.models.get(model_id)
        if keep:
            model = retired.bring_back(tables, model)
            tables.retirements.ensure(
                Retirement(model.id, model.tenant_id, model.application_id, kept=True)
            )
        else:
            tables.retirements.forget(tx.now() + 1.0, id=model.id, kept=True)
        return show_models(tables, [model])[0]


def stored(tx: Transaction) -> list[Amount]:
    """Return what stored bytes are, by kind: a constant number of statements."""
    tables = tx.unscoped()
    kinds = _kinds(tables)
    counts = looks.Counted()
    sizes = looks.Counted()
    for digest, size in tables.artefacts.pick("digest", "size"):
        kind = kinds.get(digest, KeptKind.OTHER)
        counts[kind] += 1
        sizes[kind] += size
    return looks.amounts(counts, sizes)


def _kinds(tables: Tables) -> dict[str, KeptKind]:
    """Return the kind of each digest; where it is several, the one that keeps it longest."""
    retired_files = tables.retirements.column("files", kept=False)
    predicted = tables.reports.column("value", kind=KIND)
    # The later of these counts, so they stand in the order in which they keep a file.
    named: list[tuple[KeptKind, Iterable[Iterable[str]]]] = [
        (KeptKind.RETIRED, [files.to_json().values() for files in retired_files]),
        (KeptKind.LOGS, tables.attempts.pick("log")),
        (KeptKind.RESULTS, [[Predicted.from_json(value).artefact] for value in predicted]),
        (KeptKind.PREDICTIONS, tables.models.pick(*_PREDICTIONS)),
        (KeptKind.MODELS, tables.models.pick("artefact", "refitted")),
        (KeptKind.DATA, tables.versions.pick("source_artefact", "artefact", "doubts")),
    ]
    found: dict[str, KeptKind] = {}
    for kind, rows in named:
        for digests in rows:
            found.update(dict.fromkeys(digests, kind))
    return found


def _show(tables: Tables, settings: Settings, application_id: str) -> Retention:
    application = tables.applications.get(application_id)
    asked = tables.retention_rules.find(id=application.id)
    wish = NewRetention.model_validate(asked or {}, from_attributes=True)
    here = {"application_id": application.id}
    return Retention(
        application_id=application.id,
        asked=wish,
        **asdict(facts.in_force(asked, settings)),
        kept=tables.retirements.column("id", kept=True, **here),
        retired=tables.retirements.column("id", kept=False, **here),
    )
