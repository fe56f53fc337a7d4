"""``user sessions`` and ``user reset-password``, as they are typed."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from easeml.cli.main import app
from easeml.service.accounts import keys, users
from easeml.settings import Settings
from easeml.store import Store

NEW = "eight sailing walnut drums"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    settings = Settings(home=home)
    store = Store.of(settings)
    users.create_first_provider(store)
    store.close()
    return home


def test_a_lost_password_is_set_by_who_has_the_home(home: Path) -> None:
    typed = ["user", "reset-password", "admin", "--home", str(home), "--password-stdin"]
    done = CliRunner().invoke(app, typed, input=f"{NEW}\n")
    assert done.exit_code == 0, done.output
    assert NEW not in done.output
    store = Store.of(Settings(home=home))
    assert keys.sign_in(store, "admin", NEW).secret
    store.close()


def test_without_a_terminal_the_password_is_read_from_standard_input(home: Path) -> None:
    typed = ["user", "reset-password", "admin", "--home", str(home)]
    done = CliRunner().invoke(app, typed, input=f"{NEW}\n")
    assert done.exit_code == 0, done.output
    store = Store.of(Settings(home=home))
    assert keys.sign_in(store, "admin", NEW).secret
    store.close()
    nothing = CliRunner().invoke(app, typed, input="")
    assert nothing.exit_code != 0
    assert "Aborted" not in nothing.output
