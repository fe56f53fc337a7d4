"""What people said that stands: answers that were not taken back, and which of them counts."""

from collections.abc import Collection
from operator import attrgetter
from typing import Any
from zlib import crc32

from easeml.contract.states import MemberRole, ShareRole, WorkWay
from easeml.contract.work import WorkAgreement
from easeml.lifecycle import journey
from easeml.store import Tables
from easeml.store.records import Application, WorkItem

_ONE_OF = 8  # items of which so many-th one is asked of a second person

Standing = dict[str, dict[str, str]]
"""By item and user, what they answered, in the order in which it was given."""


def of_items(tables: Tables, item_ids: Collection[str]) -> Standing:
    """Return the answers that stand of some items."""
    return _standing(tables, item_id=list(item_ids))


def of_application(tables: Tables, application: Application) -> Standing:
    """Return all answers of an application that stand."""
    return _standing(tables, application_id=application.id)


def settled(tables: Tables, items: Collection[WorkItem]) -> dict[str, str]:
    """Return the value that counts of each item: an owner's before those of others.

    Owners are those of the tenant, and those with whom the application is shared as owners.
    """
    owners = set(tables.memberships.column("user_id", role=MemberRole.OWNER))
    shares = tables.shares.pick("application_id", "user_id", role=ShareRole.OWNER)
    found = of_items(tables, list(map(attrgetter("id"), items)))
    values: dict[str, str] = {}
    for item in items:
        if item.id in found:
            experts = owners | {user for place, user in shares if place == item.application_id}
            values[item.id] = journey.settled(found[item.id], experts)
    return values


def experts_of(tables: Tables, application: Application) -> set[str]:
    """Return the users whose answers count before those of others: owners."""
    owners = tables.memberships.column("user_id", role=MemberRole.OWNER)
    shared = tables.shares.column("user_id", application_id=application.id, role=ShareRole.OWNER)
    return {*owners, *shared}


def disputed(
    tables: Tables, application: Application, items: Collection[WorkItem]
) -> dict[str, list[str]]:
    """Return what people said of items on which they differ, and no owner has decided, by item."""
    experts = experts_of(tables, application)
    ids = list(map(attrgetter("id"), items))
    found = {}
    for item_id, said in of_items(tables, ids).items():
        is_decided = bool(experts & said.keys())
        if is_decided:
            continue
        values = list(said.values())
        if len(set(values)) > 1:
            found[item_id] = values
    return found


def not_known(tables: Tables, items: Collection[WorkItem]) -> set[str]:
    """Return the ids of items that nobody answered, and of which somebody said that they do not know."""
    ids = list(map(attrgetter("id"), items))
    words = tables.work_answers.pick("item_id", "user_id", "way", item_id=ids)
    last = {(item_id, user_id): way for item_id, user_id, way in words}
    unknown = {item_id for (item_id, _), way in last.items() if way == WorkWay.UNKNOWN}
    return unknown - set(of_items(tables, ids))


def agreement(tables: Tables, application: Application) -> WorkAgreement:
    """Return how often two people who answered the same item said the same."""
    found = journey.agreement(of_application(tables, application).values())
    low, high = found.interval
    return WorkAgreement(pairs=found.pairs, same=found.same, low=low, high=high)


def is_asked_twice(item: WorkItem) -> bool:
    """Is this one of the items that a second person is asked, so that agreement is measured?"""
    return crc32(item.id.encode()) % _ONE_OF == 0


def holder_of(item: WorkItem, now: float) -> str:
    """Return the user who was handed an item and has time left; empty where nobody has it."""
    return item.holder if item.held_until > now else ""


def _standing(tables: Tables, **equals: Any) -> Standing:
    found: Standing = {}
    words = tables.work_answers.pick(
        "item_id", "user_id", "way", "value", way=[WorkWay.ANSWER, WorkWay.UNDO], **equals
    )
    for item_id, user_id, way, value in words:
        answers = found.setdefault(item_id, {})
        answers.pop(user_id, None)
        if way == WorkWay.ANSWER:
            answers[user_id] = value  # the last of all, even where the user changed an answer
    return {item_id: answers for item_id, answers in found.items() if answers}
