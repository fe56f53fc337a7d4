"""The first start takes the provider's password and keys from files that were made beforehand."""

import secrets
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from easeml.contract.states import KeyScope
from easeml.errors import InvalidInput, NotSignedIn
from easeml.service.accounts import first_start, keys
from easeml.store import Store

PASSWORD = "seven grey bicycles"


def key() -> str:
    return f"eml_{secrets.token_hex(32)}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a provider made: each file ends with a line break, as ``echo`` writes it."""
    made = tmp_path / "secrets"
    made.mkdir()
    for name, secret in {"password": PASSWORD, "key": key(), "metrics-key": key()}.items():
        (made / name).write_text(f"{secret}\n")
    return made


def test_the_provider_has_the_password_and_the_keys_of_the_files(
    store: Store, folder: Path
) -> None:
    first_start.make_provider(store, folder)
    assert keys.sign_in(store, "admin", PASSWORD).secret
    everything = keys.authenticate(store, (folder / "key").read_text().strip())
    assert (everything.is_provider, everything.scope) == (True, KeyScope.ALL)
    metrics = keys.authenticate(store, (folder / "metrics-key").read_text().strip())
    assert (metrics.is_provider, metrics.scope) == (True, KeyScope.METRICS)


def test_later_starts_take_nothing_from_files(store: Store, folder: Path) -> None:
    first_start.make_provider(store, folder)
    (folder / "password").write_text("another good sentence")
    (folder / "key").write_text(later := key())
    first_start.make_provider(store, folder)
    (folder / "password").unlink()
    first_start.make_provider(store, folder)
    assert keys.sign_in(store, "admin", PASSWORD).secret
    with pytest.raises(NotSignedIn):
        keys.authenticate(store, later)


def test_keys_may_be_left_out_and_a_password_may_not(store: Store, folder: Path) -> None:
    (folder / "key").unlink()
    (folder / "metrics-key").write_text("")
    assert first_start.read(folder).keys == {}
    (folder / "password").write_text("\n")
    with pytest.raises(InvalidInput, match="needs a password"):
        first_start.make_provider(store, folder)
    with pytest.raises(InvalidInput, match="needs a password"):
        first_start.make_provider(store, folder / "nowhere")


@pytest.mark.parametrize(
    ("name", "secret", "reason"),
    [
        ("password", "admin", "not a safe password"),
        ("key", "hunter2", "A key is eml_"),
        ("key", "eml_" + "a1" * 30, "not drawn at random"),
        ("key", "eml_two words " + "0123456789abcdef" * 4, "A key is eml_"),
        ("metrics-key", "eml_short", "A key is eml_"),
    ],
)
def test_a_secret_that_could_be_guessed_is_refused_and_nobody_is_made(
    store: Store, folder: Path, name: str, secret: str, reason: str
) -> None:
    (folder / name).write_text(secret)
    with pytest.raises(InvalidInput, match=reason) as refused:
        first_start.make_provider(store, folder)
    assert secret not in str(refused.value)
    with pytest.raises(NotSignedIn):
        keys.sign_in(store, "admin", PASSWORD)


def test_one_key_for_all_and_for_metrics_is_refused(store: Store, folder: Path) -> None:
    (folder / "metrics-key").write_text((folder / "key").read_text())
    with pytest.raises(InvalidInput, match="Two keys are the same"):
        first_start.make_provider(store, folder)


@pytest.mark.parametrize("bytes_", [b"\xff\xfe", None])
def test_what_is_no_text_is_refused_with_its_place(folder: Path, bytes_: bytes | None) -> None:
    path = folder / "key"
    path.unlink()
    if bytes_ is None:
        path.mkdir()
    else:
        path.write_bytes(bytes_)
    with pytest.raises(InvalidInput, match="A secret cannot be read"):
        first_start.read(folder)


def test_of_several_that_start_at_once_one_makes_the_provider(store: Store, folder: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        for ended in [pool.submit(first_start.make_provider, store, folder) for _ in range(8)]:
            ended.result()
    with store.read() as tx:
        assert tx.users.count() == 1
        assert tx.unscoped().api_keys.count() == 2
