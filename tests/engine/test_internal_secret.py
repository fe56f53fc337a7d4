"""The secret of a home is changed while easeml runs."""

import time
from pathlib import Path

import pytest

from easeml.engine import internal_secret


def test_the_old_secret_is_accepted_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    internal_secret.make(tmp_path)
    old = internal_secret.current(tmp_path)
    internal_secret.make(tmp_path)
    assert internal_secret.current(tmp_path) == old
    internal_secret.rotate(tmp_path, 60.0)
    new = internal_secret.current(tmp_path)
    assert new != old
    assert (tmp_path / internal_secret.NAME).stat().st_mode & 0o077 == 0
    assert internal_secret.is_accepted(tmp_path, new)
    assert internal_secret.is_accepted(tmp_path, old)
    for wrong in ("", "x", f"{old} {time.time() + 9}", new + "\n", "é"):
        assert not internal_secret.is_accepted(tmp_path, wrong)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 61)
    assert internal_secret.is_accepted(tmp_path, new)
    assert not internal_secret.is_accepted(tmp_path, old)


def test_without_overlap_the_old_one_ends_at_once(tmp_path: Path) -> None:
    internal_secret.make(tmp_path)
    old = internal_secret.current(tmp_path)
    internal_secret.rotate(tmp_path, 0.0)
    assert not internal_secret.is_accepted(tmp_path, old)


def test_a_change_that_was_cut_off_is_done_again(tmp_path: Path) -> None:
    internal_secret.make(tmp_path)
    old = internal_secret.current(tmp_path)
    (tmp_path / internal_secret.NAME).with_suffix(".part").write_text("half")
    assert internal_secret.current(tmp_path) == old
    internal_secret.rotate(tmp_path)
    assert internal_secret.is_accepted(tmp_path, old)
