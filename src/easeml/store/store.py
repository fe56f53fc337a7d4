"""The store: the one place for what must not be lost."""

from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import exc

from easeml.errors import Conflict, DatabaseAway, Unreachable
from easeml.settings import Settings
from easeml.store.artefacts import ArtefactStore
from easeml.store.bucket import Bucket
from easeml.store.cached_files import CachedFiles
from easeml.store.database import (
    connect,
    describe,
    empty_log,
    read_clock,
    shown_address,
    write_log,
)
from easeml.store.faults import database_is_broken, storage_faults
from easeml.store.files import LocalFiles
from easeml.store.migrate import check_current, check_there, is_current, migrate, rehearse
from easeml.store.notices import NoticeBoard
from easeml.store.session import Clock, Session
from easeml.store.snapshots import mentioned_digests, write_snapshot
from easeml.store.transaction import Transaction
from easeml.store.uploads import UploadStore
from easeml.store.wakeups import Wakeup, WorkWakeup, open_wakeup, open_work_wakeup


class Store:
    """A database, its artefacts and unfinished uploads. Any thread may use it; a transaction
    belongs to one thread.

    Do not use one across a fork: open a new one in the child.
    """

    def __init__(
        self, engine: sa.Engine, artefacts: ArtefactStore, uploads: UploadStore, clock: Clock
    ):
        """Use ``Store.open``."""
        self._engine = engine
        self._clock = clock
        self._read_options, self._write_options = _options(engine)
        self._tell = _teller(engine)
        self.artefacts = artefacts
        self.uploads = uploads

    @classmethod
    def of(cls, settings: Settings) -> "Store":
        """Open what ``settings`` name; raises as ``open``."""
        bucket = Bucket(settings.artefacts_url) if settings.artefacts_url else None
        return cls.open(
            settings.database, settings.artefacts, bucket=bucket, cache=settings.artefacts_cache
        )

    @classmethod
    def found(cls, settings: Settings) -> "Store":
        """Open what ``settings`` name as it is: no database is made, or brought to another form.

        That would stop an older easeml which runs on it. Raises as ``open``, ``NotFound`` where
        there is no database, and ``Conflict`` where it has the form of an older easeml.
        """
        engine = connect(settings.database)
        try:
            check_there(engine)
            with storage_faults():
                check_current(engine)
        finally:
            engine.dispose()
        return cls.of(settings)

    @staticmethod
    def fits(settings: Settings) -> bool:
        """Has the database that ``settings`` name the form of this easeml? Else ``of`` changes it.

        Raises ``Conflict`` if a newer easeml wrote it, ``DatabaseAway``.
        """
        engine = connect(settings.database)
        try:
            with storage_faults():
                return is_current(engine)
        finally:
            engine.dispose()

    @staticmethod
    def rehearse(settings: Settings) -> None:
        """Try on a copy whether ``of`` can change the database that ``settings`` name.

        Raises ``Conflict`` where it cannot, ``StorageFull`` where the copy has no room.
        """
        engine = connect(settings.database)
        try:
            with storage_faults():
                rehearse(engine)
        except exc.DatabaseError as error:
            raise Conflict(
                f"The database cannot be brought to the form of this easeml: {error.orig}.",
                where=settings.database,
                remedy="Nothing was changed. Look with easeml doctor of the easeml that wrote it.",
            ) from error
        finally:
            engine.dispose()

    @classmethod
    def open(
        cls,
        url: str,
        artefacts: Path,
        clock: Callable[[], float] | None = None,
        *,
        bucket: Bucket | None = None,
        cache: int = 0,
    ) -> "Store":
        """Open the database at a SQLAlchemy URL and the artefacts in a folder, creating or
        upgrading both.

        ``clock`` (seconds of the epoch) stands in for the database's clock. With a ``bucket``, that
        keeps the artefacts, and the folder about ``cache`` bytes of those used last. Raises
        ``InvalidInput`` for a URL that cannot be used, ``Unreachable`` if no connection comes about
        or the SQLite library could lose data, ``Damaged`` if the file is broken, ``StorageFull``,
        ``Conflict`` if a newer easeml wrote the database.
        """
        engine = connect(url)
        try:
            with storage_faults():
                migrate(engine)
        except DatabaseAway as away:
            engine.dispose()
            raise _unreachable(engine, away.__cause__ or away) from away
        except (exc.OperationalError, OSError) as error:
            engine.dispose()
            raise _unreachable(engine, error) from error
        uploads = UploadStore(artefacts / ".uploads")
        files = CachedFiles(artefacts, bucket, cache) if bucket else LocalFiles(artefacts)
        return cls(
            engine, ArtefactStore(files), uploads, (lambda _: clock()) if clock else read_clock
        )

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """A transaction that sees one state of the database, and writes nothing.

        Raises ``Damaged`` if the database cannot be read any more, ``DatabaseAway`` if it does not
        answer.
        """
        with (
            storage_faults(),
            self._engine.connect().execution_options(**self._read_options) as connection,
            connection.begin(),
        ):
            yield Transaction(Session(connection, self._clock, writes=False))

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """A writing transaction: committed at the end of the block, rolled back if it raises.

        Raises ``StorageFull`` if the disk has no space, ``Damaged`` if the database is broken,
        ``DatabaseAway`` if it does not answer: what was to be written may not be there.
        """
        with (
            storage_faults(),
            self._engine.connect().execution_options(**self._write_options) as connection,
            connection.begin(),
        ):
            transaction = Transaction(Session(connection, self._clock, writes=True))
            yield transaction
            transaction.finish()
        self._tell(transaction.news)

    def describe(self) -> str:
        """Return the database's name and version for people, like ``SQLite 3.53.4``."""
        return describe(self._engine)

    def check_integrity(self) -> None:
        """Read every page of a SQLite database; raises ``Damaged`` if one is broken.

        PostgreSQL watches over its own pages; there it only asks whether the database answers.
        """
        is_sqlite = self._engine.dialect.name == "sqlite"
        question = "PRAGMA quick_check(1)" if is_sqlite else "SELECT 'ok'"
        with storage_faults(), self._engine.connect() as connection:
            answer = connection.exec_driver_sql(question).scalar_one()
        if answer != "ok":
            raise database_is_broken()

    def clean(self) -> bool:
        """Let the files of a SQLite database keep nothing that was deleted or changed; return whether
        that is so now.

        Whoever reads meanwhile goes on, and the log of changes stays as it is until the next time. A
        PostgreSQL server looks after its own files.
        """
        if self._engine.dialect.name != "sqlite":
            return False
        with storage_faults():
            return empty_log(self._engine)

    def settle(self) -> None:
        """Write what was committed into the file of a SQLite database, while others read and write.

        SQLite does so after four megabytes of changes: few changes would stay in the log for days,
        and be lost with it.
        """
        if self._engine.dialect.name == "sqlite":
            with storage_faults():
                write_log(self._engine)

    def mentioned_digests(self, but: str = "") -> set[str]:
        """Return every digest (64 hexadecimal digits) that any row names in any column.

        What none names can never be asked for. ``but``: a table that does not count.
        """
        with storage_faults(), self._engine.connect() as connection:
            return mentioned_digests(connection, but)

    def write_snapshot(self, path: Path) -> None:
        """Copy one state of the database to the new SQLite file ``path``, while others write.

        Raises ``StorageFull``, and ``Damaged`` if the database cannot be read any more.
        """
        write_snapshot(self._engine, path)

    def wakeup(self) -> Wakeup:
        """Start listening for commits; close it after use."""
        return open_wakeup(self._engine)

    def work_wakeup(self) -> WorkWakeup:
        """Start listening for commits that concern workers; close it after use."""
        return open_work_wakeup(self._engine)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def _teller(engine: sa.Engine) -> Callable[[Set[str]], None]:
    """Return what tells those who wait of a commit; PostgreSQL does so by itself."""
    if engine.dialect.name == "sqlite":
        return NoticeBoard(engine).tell
    return _tell_nobody


def _tell_nobody(words: Set[str]) -> None:
    """Do nothing: the commit has told them."""


def _unreachable(engine: sa.Engine, error: BaseException) -> Unreachable:
    reason = error.orig if isinstance(error, exc.DBAPIError) else error
    return Unreachable(
        f"The database cannot be opened: {str(reason).strip()}.",
        remedy="Check the address, that the server runs, and that you may write there.",
        where=shown_address(engine),
    )


def _options(engine: sa.Engine) -> tuple[dict[str, object], dict[str, object]]:
    """Execution options of reading and of writing transactions."""
    if engine.dialect.name == "sqlite":
        return {}, {"writes": True}
    return {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}, {}
