"""Accounts: passwords, keys, and who may do what."""

import pytest

from easeml.contract.resources import NewKey, NewUser, PasswordChange
from easeml.errors import Conflict, InvalidInput, NotAllowed, NotFound, NotSignedIn
from easeml.service import Caller, accounts
from easeml.store import Store

from .conftest import PASSWORD, Clock


def test_the_first_provider_is_made_once_with_a_random_password(store: Store) -> None:
    first = accounts.create_first_provider(store)
    assert first is not None
    assert first[0] == "admin"
    assert len(first[1]) >= 20
    assert accounts.create_first_provider(store) is None
    caller = accounts.authenticate(store, accounts.sign_in(store, *first).secret or "")
    assert caller.is_provider


def test_neither_passwords_nor_keys_are_stored(store: Store, ann: Caller) -> None:
    key = accounts.create_key(store, ann, NewKey(name="laptop"))
    assert key.secret
    with store.read() as tx:
        user = tx.users.get(ann.user_id)
        record = tx.unscoped().api_keys.get(key.id)
    assert user.password_hash.startswith("$argon2id$")
    assert PASSWORD not in user.password_hash
    assert key.secret not in str(record)
    assert len(record.hash) == 64
    assert accounts.list_keys(store, ann).items[0].secret is None


@pytest.mark.parametrize(("name", "password"), [("ann", "wrong password"), ("nobody", PASSWORD)])
def test_a_wrong_name_or_password_gives_the_same_answer(
    store: Store, ann: Caller, name: str, password: str
) -> None:
    with pytest.raises(NotSignedIn, match="The name or the password is wrong"):
        accounts.sign_in(store, name, password)


def test_an_unknown_user_costs_a_verification_too(
    store: Store, ann: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified: list[str] = []
    monkeypatch.setattr(accounts, "_verify", lambda hash_, password: bool(verified.append(hash_)))
    for name in ("ann", "nobody"):
        with pytest.raises(NotSignedIn):
            accounts.sign_in(store, name, PASSWORD)
    assert len(verified) == 2
    assert all(hash_.startswith("$argon2id$") for hash_ in verified)


def test_a_sign_in_ends_after_twelve_hours(store: Store, ann: Caller, clock: Clock) -> None:
    key = accounts.sign_in(store, "ann", PASSWORD)
    assert key.secret
    assert accounts.authenticate(store, key.secret) == ann
    clock.now += 12 * 3600 - 1
    assert accounts.authenticate(store, key.secret) == ann
    clock.now += 1
    with pytest.raises(NotSignedIn, match="expired"):
        accounts.authenticate(store, key.secret)


def test_a_key_can_be_revoked_by_its_user_only(store: Store, ann: Caller, bob: Caller) -> None:
    key = accounts.create_key(store, ann, NewKey(name="laptop"))
    with pytest.raises(NotFound):
        accounts.revoke_key(store, bob, key.id)
    assert accounts.authenticate(store, key.secret or "") == ann
    accounts.revoke_key(store, ann, key.id)
    with pytest.raises(NotSignedIn):
        accounts.authenticate(store, key.secret or "")
    assert accounts.list_keys(store, bob).items == []


@pytest.mark.parametrize("secret", ["", "eml_", "eml_" + "a" * 43, "x" * 10_000, "ä"])
def test_an_unknown_key_is_refused(store: Store, ann: Caller, secret: str) -> None:
    with pytest.raises(NotSignedIn):
        accounts.authenticate(store, secret)


def test_a_repeated_creation_gives_the_same_key_with_a_new_secret(
    store: Store, ann: Caller
) -> None:
    wish = NewKey(name="laptop", expires_in=60)
    first = accounts.create_key(store, ann, wish, idempotency_key="k")
    again = accounts.create_key(store, ann, wish, idempotency_key="k")
    assert again.id == first.id
    assert accounts.authenticate(store, again.secret or "") == ann
    with pytest.raises(NotSignedIn):
        accounts.authenticate(store, first.secret or "")
    with pytest.raises(Conflict, match="another request"):
        accounts.create_key(store, ann, NewKey(name="desktop"), idempotency_key="k")


def test_only_a_provider_makes_users_and_sees_all(store: Store, admin: Caller, ann: Caller) -> None:
    with pytest.raises(NotAllowed):
        accounts.create_user(store, ann, NewUser(name="eve", password=PASSWORD))
    with pytest.raises(Conflict, match="ann"):
        accounts.create_user(store, admin, NewUser(name="ann", password=PASSWORD))
    assert [user.name for user in accounts.list_users(store, admin).items] == ["admin", "ann"]
    assert [user.name for user in accounts.list_users(store, ann).items] == ["ann"]


def test_creating_a_user_twice_with_one_key_makes_one(store: Store, admin: Caller) -> None:
    wish = NewUser(name="eve", password=PASSWORD)
    users = [accounts.create_user(store, admin, wish, idempotency_key="k") for _ in range(2)]
    assert users[0] == users[1]


def test_a_new_password_ends_the_sign_ins(
    store: Store, admin: Caller, ann: Caller, bob: Caller
) -> None:
    signed_in = accounts.sign_in(store, "ann", PASSWORD)
    key = accounts.create_key(store, ann, NewKey(name="laptop"))
    with pytest.raises(NotAllowed, match="old password"):
        accounts.change_password(
            store, ann, ann.user_id, PasswordChange(old="wrong", new="a new secret")
        )
    with pytest.raises(NotFound):
        accounts.change_password(store, bob, ann.user_id, PasswordChange(new="a new secret"))
    accounts.change_password(
        store, ann, ann.user_id, PasswordChange(old=PASSWORD, new="a new secret")
    )
    with pytest.raises(NotSignedIn):
        accounts.authenticate(store, signed_in.secret or "")
    assert accounts.authenticate(store, key.secret or "") == ann
    with pytest.raises(NotSignedIn):
        accounts.sign_in(store, "ann", PASSWORD)
    accounts.change_password(store, admin, ann.user_id, PasswordChange(new="from the provider"))
    assert accounts.sign_in(store, "ann", "from the provider").tenant_id == ann.tenant_id


def test_users_are_paged(store: Store, admin: Caller, ann: Caller, bob: Caller) -> None:
    first = accounts.list_users(store, admin, limit=2)
    rest = accounts.list_users(store, admin, limit=2, after=first.next)
    assert [user.name for user in first.items + rest.items] == ["admin", "ann", "bob"]
    assert rest.next is None


@pytest.mark.parametrize(
    "wish", [{"expires_in": float("inf")}, {"expires_in": 1e308}, {"name": "a\x00b"}]
)
def test_a_key_that_cannot_be_shown_is_not_made(store: Store, ann: Caller, wish: dict) -> None:
    with pytest.raises(InvalidInput):
        accounts.create_key(store, ann, NewKey(**{"name": "laptop", **wish}))
    assert accounts.list_keys(store, ann).items == []
