"""What owners are told by themselves, and how far they have read."""

from easeml.contract.notification_texts import sentence
from easeml.contract.states import ShareRole
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.accounts import users
from easeml.service.events import notifications
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.records import Share


def tell(store: Store, caller: Caller, kind: str, subject: str = "app_1", **data: object) -> None:
    with store.write() as tx:
        tx.events.append(kind, subject, data, caller.tenant_id)


def test_owners_are_told_of_what_they_would_ask_for(store: Store, ann: Caller, bob: Caller) -> None:
    tell(store, ann, "task.done", "task_1")
    tell(store, ann, "promotion.live", "app_1", name="tree", quality=0.9)
    tell(store, bob, "promotion.live", "app_2")
    tell(store, ann, "job.resting", "job_1", application_id="app_1")
    found = notifications.get(store, ann)
    assert [(one.kind, one.subject, one.unread) for one in found.items] == [
        ("job.resting", "app_1", True),
        ("promotion.live", "app_1", True),
    ]
    assert found.unread == 2
    assert users.get_user(store, Settings(), ann).unread == 2


def test_what_was_read_is_not_new_and_nothing_is_unread_again(store: Store, ann: Caller) -> None:
    tell(store, ann, "promotion.live")
    first = notifications.get(store, ann).items[0]
    assert notifications.mark_read(store, ann, first.seq).unread == 0
    tell(store, ann, "dataset.failed", "ver_x", error="no table")
    assert [one.unread for one in notifications.get(store, ann).items] == [True, False]
    assert notifications.mark_read(store, ann, 0).unread == 1
    notifications.mark_read(store, ann, 2**62)  # of what is still to come, nothing is read
    tell(store, ann, "promotion.live")
    assert notifications.get(store, ann).unread == 1


def test_of_the_models_that_served_an_application_the_newest_is_told(
    store: Store, ann: Caller
) -> None:
    for name in ("tree", "forest"):
        tell(store, ann, "promotion.live", "app_1", name=name)
        tell(store, ann, "promotion.live", "app_2", name=name)
    tell(store, ann, "promotion.refused", "app_1", name="net")
    found = notifications.get(store, ann)
    told = [(one.kind, one.subject, one.data["name"]) for one in found.items]
    assert told == [
        ("promotion.refused", "app_1", "net"),
        ("promotion.live", "app_2", "forest"),
        ("promotion.live", "app_1", "forest"),
    ]
    assert found.unread == 3


def share(store: Store, owner: Caller, user: Caller, application_id: str, role: ShareRole) -> None:
    with store.write() as tx:
        shares = tx.scoped(owner.tenant_id).shares
        shares.add(Share(new_id("share"), owner.tenant_id, application_id, user.user_id, role))


def test_what_is_shared_is_told_of_from_then_on(store: Store, ann: Caller, bob: Caller) -> None:
    tell(store, ann, "promotion.live", "app_1", name="of before")
    share(store, ann, bob, "app_1", ShareRole.OWNER)
    share(store, ann, bob, "app_2", ShareRole.VIEWER)
    share(store, ann, bob, "app_3", ShareRole.LABELLER)
    for application_id in ("app_1", "app_2", "app_3", "app_4"):
        tell(store, ann, "promotion.live", application_id, name="later")
    tell(store, ann, "dataset.failed", "data_1")
    tell(store, bob, "promotion.live", "app_5", name="own")
    found = notifications.get(store, bob)
    told = [(one.subject, one.data["name"]) for one in found.items]
    assert told == [("app_5", "own"), ("app_2", "later"), ("app_1", "later")]
    assert found.unread == users.get_user(store, Settings(), bob).unread == 3
    assert notifications.mark_read(store, bob, found.items[0].seq).unread == 0
    assert len(notifications.get(store, ann).items) == 5


def test_many_are_counted_to_a_hundred(store: Store, ann: Caller) -> None:
    for place in range(130):
        tell(store, ann, "promotion.live", f"app_{place}")
    found = notifications.get(store, ann, limit=20)
    assert (len(found.items), found.unread) == (20, 100)


def test_of_a_long_error_what_helps_is_told() -> None:
    remedy = "If it is right: easeml app feed ID FILE --anyway."
    error = f"The file does not fit: {'column a, column b, ' * 30} {remedy}"
    told = sentence("dataset.failed", {"error": error})
    assert told.startswith("could not be read: The file does not fit")
    assert told.endswith(remedy)
    assert len(told) < 250
