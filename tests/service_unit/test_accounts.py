"""Accounts: passwords, keys, and who may do what."""

import pytest
from argon2 import extract_parameters
from argon2.exceptions import VerifyMismatchError
from pydantic import ValidationError

from easeml.contract.accounts import Access, NewKey, NewUser, PasswordChange
from easeml.errors import Conflict, InvalidInput, NotAllowed, NotFound, NotSignedIn
from easeml.service.access.caller import Caller
from easeml.service.accounts import keys, passwords, users
from easeml.store import Store

from .conftest import PASSWORD, Clock


def test_the_first_provider_is_made_once_with_a_random_password(store: Store) -> None:
    first = users.create_first_provider(store)
    assert first is not None
    assert first[0] == "admin"
    assert len(first[1]) >= 20
    assert users.create_first_provider(store) is None
    caller = keys.authenticate(store, keys.sign_in(store, *first).secret or "")
    assert caller.is_provider


def test_neither_passwords_nor_keys_are_stored(store: Store, ann: Caller) -> None:
    key = keys.create_key(store, ann, NewKey(name="laptop"))
    assert key.secret
    with store.read() as tx:
        user = tx.users.get(ann.user_id)
        record = tx.unscoped().api_keys.get(key.id)
    assert user.password_hash.startswith("$argon2id$")
    assert PASSWORD not in user.password_hash
    assert key.secret not in str(record)
    assert len(record.hash) == 64
    assert keys.list_keys(store, ann).items[0].secret is None


@pytest.mark.parametrize(("name", "password"), [("ann", "wrong password"), ("nobody", PASSWORD)])
def test_a_wrong_name_or_password_gives_the_same_answer(
    store: Store, ann: Caller, name: str, password: str
) -> None:
    with pytest.raises(NotSignedIn, match="The name or the password is wrong"):
        keys.sign_in(store, name, password)


def test_the_hash_that_no_password_has_costs_as_much_as_any() -> None:
    decoy = passwords.decoy_hash()
    assert extract_parameters(decoy) == extract_parameters(passwords.hash_of(PASSWORD))
    with pytest.raises(VerifyMismatchError):  # it was compared to the end
        passwords.hasher.verify(decoy, PASSWORD)


def test_an_unknown_user_costs_a_verification_too(
    store: Store, ann: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified: list[str] = []
    monkeypatch.setattr(passwords, "is_right", lambda hash_, password: bool(verified.append(hash_)))
    for name in ("ann", "nobody"):
        with pytest.raises(NotSignedIn):
            keys.sign_in(store, name, PASSWORD)
    assert len(verified) == 2
    assert all(hash_.startswith("$argon2id$") for hash_ in verified)


def test_a_sign_in_ends_after_twelve_hours(store: Store, ann: Caller, clock: Clock) -> None:
    key = keys.sign_in(store, "ann", PASSWORD)
    assert key.secret
    assert keys.authenticate(store, key.secret) == ann
    clock.now += 12 * 3600 - 1
    assert keys.authenticate(store, key.secret) == ann
    clock.now += 1
    with pytest.raises(NotSignedIn, match="expired"):
        keys.authenticate(store, key.secret)


def test_a_key_can_be_revoked_by_its_user_only(store: Store, ann: Caller, bob: Caller) -> None:
    key = keys.create_key(store, ann, NewKey(name="laptop"))
    with pytest.raises(NotFound):
        keys.revoke_key(store, bob, key.id)
    assert keys.authenticate(store, key.secret or "") == ann
    keys.revoke_key(store, ann, key.id)
    with pytest.raises(NotSignedIn):
        keys.authenticate(store, key.secret or "")
    assert keys.list_keys(store, bob).items == []


@pytest.mark.parametrize("secret", ["", "eml_", "eml_" + "a" * 43, "x" * 10_000, "ä"])
def test_an_unknown_key_is_refused(store: Store, ann: Caller, secret: str) -> None:
    with pytest.raises(NotSignedIn):
        keys.authenticate(store, secret)


def test_a_repeated_creation_gives_the_same_key_with_a_new_secret(
    store: Store, ann: Caller
) -> None:
    wish = NewKey(name="laptop", expires_in=60)
    first = keys.create_key(store, ann, wish, idempotency_key="k")
    again = keys.create_key(store, ann, wish, idempotency_key="k")
    assert again.id == first.id
    assert keys.authenticate(store, again.secret or "") == ann
    with pytest.raises(NotSignedIn):
        keys.authenticate(store, first.secret or "")
    with pytest.raises(Conflict, match="another request"):
        keys.create_key(store, ann, NewKey(name="desktop"), idempotency_key="k")


def test_only_a_provider_makes_users_and_sees_all(store: Store, admin: Caller, ann: Caller) -> None:
    with pytest.raises(NotAllowed):
        users.create_user(store, ann, NewUser(name="eve", password=PASSWORD))
    with pytest.raises(Conflict, match="ann"):
        users.create_user(store, admin, NewUser(name="ann", password=PASSWORD))
    assert [user.name for user in users.list_users(store, admin).items] == ["admin", "ann"]
    assert [user.name for user in users.list_users(store, ann).items] == ["ann"]


def test_creating_a_user_twice_with_one_key_makes_one(store: Store, admin: Caller) -> None:
    wish = NewUser(name="eve", password=PASSWORD)
    made = [users.create_user(store, admin, wish, idempotency_key="k") for _ in range(2)]
    assert made[0] == made[1]


def test_a_new_password_ends_the_sign_ins(
    store: Store, admin: Caller, ann: Caller, bob: Caller
) -> None:
    signed_in = keys.sign_in(store, "ann", PASSWORD)
    key = keys.create_key(store, ann, NewKey(name="laptop"))
    with pytest.raises(NotAllowed, match="old password"):
        users.change_password(
            store, ann, ann.user_id, PasswordChange(old="wrong", new="a new secret")
        )
    with pytest.raises(NotFound):
        users.change_password(store, bob, ann.user_id, PasswordChange(new="a new secret"))
    users.change_password(store, ann, ann.user_id, PasswordChange(old=PASSWORD, new="a new secret"))
    with pytest.raises(NotSignedIn):
        keys.authenticate(store, signed_in.secret or "")
    assert keys.authenticate(store, key.secret or "") == ann
    with pytest.raises(NotSignedIn):
        keys.sign_in(store, "ann", PASSWORD)
    users.change_password(store, admin, ann.user_id, PasswordChange(new="from the provider"))
    assert keys.sign_in(store, "ann", "from the provider").tenant_id == ann.tenant_id


def test_users_are_paged(store: Store, admin: Caller, ann: Caller, bob: Caller) -> None:
    first = users.list_users(store, admin, limit=2)
    rest = users.list_users(store, admin, limit=2, after=first.next)
    assert [user.name for user in first.items + rest.items] == ["admin", "ann", "bob"]
    assert rest.next is None


@pytest.mark.parametrize("wish", [{"expires_in": 1e308}, {"name": "a\x00b"}])
def test_a_key_that_cannot_be_shown_is_not_made(store: Store, ann: Caller, wish: dict) -> None:
    with pytest.raises(InvalidInput):
        keys.create_key(store, ann, NewKey(**{"name": "laptop", **wish}))
    assert keys.list_keys(store, ann).items == []


def test_no_key_lasts_for_ever_by_a_number_without_end() -> None:
    with pytest.raises(ValidationError, match="finite number"):
        NewKey(name="laptop", expires_in=float("inf"))


def test_a_password_that_a_provider_sets_ends_every_key(
    store: Store, admin: Caller, ann: Caller
) -> None:
    key = keys.create_key(store, ann, NewKey(name="script"))
    signed_in = keys.sign_in(store, "ann", PASSWORD)
    change = PasswordChange(new="an uncommon sentence")
    users.change_password(store, admin, ann.user_id, change)
    for secret in (key.secret, signed_in.secret):
        with pytest.raises(NotSignedIn):
            keys.authenticate(store, secret or "")


def test_ones_own_new_password_ends_sign_ins_and_keeps_keys(store: Store, ann: Caller) -> None:
    key = keys.create_key(store, ann, NewKey(name="sign-in"))
    signed_in = keys.sign_in(store, "ann", PASSWORD)
    change = PasswordChange(old=PASSWORD, new="an uncommon sentence")
    users.change_password(store, ann, ann.user_id, change)
    assert keys.authenticate(store, key.secret or "").user_id == ann.user_id
    with pytest.raises(NotSignedIn):
        keys.authenticate(store, signed_in.secret or "")


def test_a_key_of_any_name_is_told_from_a_sign_in(store: Store, ann: Caller) -> None:
    made = keys.create_key(store, ann, NewKey(name="sign-in"))
    signed_in = keys.sign_in(store, "ann", PASSWORD)
    kinds = {key.id: key.kind for key in keys.list_keys(store, ann).items}
    assert (kinds[made.id], kinds[signed_in.id]) == ("api", "sign-in")


def test_a_provider_sees_and_ends_the_keys_of_others(
    store: Store, admin: Caller, ann: Caller, bob: Caller
) -> None:
    key = keys.create_key(store, ann, NewKey(name="lost laptop"))
    found = keys.list_keys(store, admin, user_id=ann.user_id).items
    assert key.id in {one.id for one in found}
    with pytest.raises(NotFound):
        keys.list_keys(store, bob, user_id=ann.user_id)
    with pytest.raises(NotFound):
        keys.revoke_key(store, bob, key.id)
    keys.revoke_key(store, admin, key.id)
    with pytest.raises(NotSignedIn):
        keys.authenticate(store, key.secret or "")


def test_a_disabled_user_is_out_until_enabled(store: Store, admin: Caller, ann: Caller) -> None:
    key = keys.create_key(store, ann, NewKey(name="script"))
    assert users.set_access(store, admin, ann.user_id, Access(disabled=True)).disabled
    with pytest.raises(NotSignedIn):
        keys.authenticate(store, key.secret or "")
    with pytest.raises(NotSignedIn):
        keys.sign_in(store, "ann", PASSWORD)
    users.set_access(store, admin, ann.user_id, Access(disabled=False))
    assert keys.sign_in(store, "ann", PASSWORD).secret
    with pytest.raises(NotSignedIn):
        keys.authenticate(store, key.secret or "")
    with pytest.raises(NotFound):
        users.set_access(store, ann, admin.user_id, Access(disabled=True))
    with pytest.raises(NotAllowed):
        users.set_access(store, ann, ann.user_id, Access(disabled=False))
    with pytest.raises(Conflict, match="yourself"):
        users.set_access(store, admin, admin.user_id, Access(disabled=True))


@pytest.mark.parametrize(
    "password",
    [
        "password",
        "passwort1",
        "qwertyuiop",
        "annannann",
        "Summer2024!",
        "Company2025",
        "easeml_123",
    ],
)
def test_a_password_that_is_guessed_at_once_is_refused(
    store: Store, admin: Caller, ann: Caller, password: str
) -> None:
    with pytest.raises(InvalidInput, match="not a safe password"):
        users.create_user(store, admin, NewUser(name="eve", password=password))
    change = PasswordChange(old=PASSWORD, new=password)
    with pytest.raises(InvalidInput, match="not a safe password") as caught:
        users.change_password(store, ann, ann.user_id, change)
    assert caught.value.remedy


@pytest.mark.parametrize("password", ["summer 48220156 rain", "Winter-0361846", "giraffe seven 7"])
def test_a_common_word_in_what_is_long_or_random_is_no_reason(password: str) -> None:
    passwords.check_strength(password, "ann")


def test_a_lost_password_is_set_without_a_service_and_ends_every_key(
    store: Store, ann: Caller, bob: Caller
) -> None:
    script = keys.create_key(store, ann, NewKey(name="script")).secret or ""
    others = keys.create_key(store, bob, NewKey(name="script")).secret or ""
    users.reset_password(store, "ann", "eight sailing walnut drums")
    with pytest.raises(NotSignedIn, match="revoked"):
        keys.authenticate(store, script)
    assert keys.authenticate(store, others).user_id == bob.user_id
    with pytest.raises(NotSignedIn):
        keys.sign_in(store, "ann", PASSWORD)
    keys.sign_in(store, "ann", "eight sailing walnut drums")
    with store.read() as tx:
        told = [event for event in tx.events.after(0) if event.kind == "password.reset"]
    assert [(event.subject, event.data) for event in told] == [(ann.user_id, {"name": "ann"})]


@pytest.mark.parametrize(
    ("name", "password", "error"),
    [("nobody", "eight sailing walnut drums", NotFound), ("ann", "password1", InvalidInput)],
)
def test_a_lost_password_that_cannot_be_set(
    store: Store, ann: Caller, name: str, password: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        users.reset_password(store, name, password)
    keys.sign_in(store, "ann", PASSWORD)
