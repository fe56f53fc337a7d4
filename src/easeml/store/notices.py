"""Notices beside a SQLite database: who has committed says what that may mean.

Each word has a file, whose writer writes one byte; the kernel tells who watches these files which
of them were written to. PostgreSQL has channels for this.
"""

import os
import sys
import time
from collections.abc import Set
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import sqlalchemy as sa

COMMIT = "commit"
"""Something was committed that others wait for. The other words are those of ``work_hints``."""

_SUFFIX = "-notices"  # of the database's file


class NoticeBoard:
    """The folder in which notices are given."""

    def __init__(self, engine: sa.Engine):
        """Take the folder of an engine's SQLite database, and make it."""
        database = Path(str(engine.url.database))
        self.folder = database.with_name(database.name + _SUFFIX)
        with suppress(OSError):  # a disk that is full: who waits looks by itself, a little later
            self.folder.mkdir(exist_ok=True)

    def tell(self, words: Set[str]) -> None:
        """Give notice after a commit, which holds whatever becomes of the notice."""
        for word in words:
            with suppress(OSError):
                file = os.open(self.folder / word, os.O_WRONLY | os.O_CREAT, 0o600)
                os.write(file, b"!")
                os.close(file)


class Notices(Protocol):
    """One waiter's view of a folder of notices."""

    look_every: float
    """Seconds after which the waiter asks the database itself whether something was committed."""

    def wait(self, seconds: float) -> Set[str]:
        """Wait up to ``seconds``; return the words that were told since the last wait."""
        ...

    def close(self) -> None:
        """Stop watching."""
        ...


class ToldNotices:
    """The Linux kernel tells of notices (inotify), so that waiting takes no processor time.

    Only a writer that is killed between its commit and its notice tells nobody.
    """

    look_every = 1.0

    def __init__(self, folder: Path, words: Set[str]):
        """Watch the files of ``words`` alone: others do not wake the waiter."""
        from inotify_simple import INotify, flags

        self._notices = INotify()
        self._words: dict[int, str] = {}
        for word in sorted(words):
            with suppress(OSError):  # a disk that is full: the database is asked in its place
                file = folder / word
                file.touch(mode=0o600)
                self._words[self._notices.add_watch(file, flags.MODIFY)] = word

    def wait(self, seconds: float) -> Set[str]:
        """See ``Notices.wait``."""
        return {self._words[event.wd] for event in self._notices.read(timeout=1000 * seconds)}

    def close(self) -> None:
        """See ``Notices.close``."""
        self._notices.close()


class NoNotices:
    """Other systems: nobody tells, so that the waiter has to look after a few milliseconds."""

    look_every = 0.005

    def wait(self, seconds: float) -> Set[str]:
        """See ``Notices.wait``: no word is ever told."""
        time.sleep(seconds)
        return frozenset()

    def close(self) -> None:
        """See ``Notices.close``."""


def watch_notices(folder: Path, words: Set[str]) -> Notices:
    """Return the best way that this system has to hear of notices of these words in a folder."""
    return ToldNotices(folder, words) if sys.platform == "linux" else NoNotices()
