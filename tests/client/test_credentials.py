"""Where address and key come from."""

import pytest

from easeml.client import Credentials, credentials_file, find_credentials, save_credentials
from easeml.client.timing import backoff
from easeml.errors import InvalidInput, NotSignedIn


def test_a_key_is_used_for_the_address_that_gave_it_only(monkeypatch: pytest.MonkeyPatch):
    save_credentials("http://one", 'k"1\\')
    save_credentials("http://two", "k2")
    assert find_credentials() == Credentials("http://two", "k2")
    assert find_credentials("http://one/") == Credentials("http://one", 'k"1\\')
    assert find_credentials("http://three") == Credentials("http://three", "")
    monkeypatch.setenv("EASEML_URL", "http://one")
    monkeypatch.setenv("EASEML_API_KEY", "from the environment")
    assert find_credentials() == Credentials("http://one", "from the environment")
    assert find_credentials("http://two", "given").key == "given"


def test_the_file_is_for_its_owner_only():
    assert save_credentials("http://one", "k").stat().st_mode & 0o777 == 0o600


def test_nothing_saved_and_damaged_files():
    assert find_credentials() == Credentials("http://127.0.0.1:8080", "")
    with pytest.raises(InvalidInput, match="http"):
        find_credentials("localhost:8080")
    credentials_file().parent.mkdir(parents=True)
    credentials_file().write_text("= nonsense")
    with pytest.raises(InvalidInput, match="easeml login"):
        find_credentials()


def test_backoff_grows_up_to_its_limit():
    waits = [backoff(attempt, first=0.1, most=2.0) for attempt in range(12)]
    assert all(0.05 * 2**n <= wait <= 0.1 * 2**n for n, wait in enumerate(waits[:4]))
    assert all(1.0 <= wait <= 2.0 for wait in waits[6:])


@pytest.mark.parametrize(
    "url", ["http://", "http://[x", "http://host:99999", "http://a b", "ftp://host"]
)
def test_what_is_no_address_is_refused(url: str):
    with pytest.raises(InvalidInput, match="address"):
        find_credentials(url)


@pytest.mark.parametrize("key", ["a\nb", "schl\u00fcssel"])
def test_what_is_no_key_is_refused(key: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EASEML_API_KEY", key)
    with pytest.raises(NotSignedIn, match="characters"):
        find_credentials("http://one")
