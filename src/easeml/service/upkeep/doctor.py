"""The doctor: looks at everything that a home needs, and repairs what it can when it is told to."""

import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from easeml.contract.upkeep import Finding, FindingState
from easeml.errors import Damaged, EasemlError, NotFound
from easeml.service.administration.health import LEAST_FREE
from easeml.service.knowledge import knowledge_base
from easeml.service.limits.used import counted
from easeml.service.models import lost_models
from easeml.service.storage import releasing
from easeml.settings import Settings
from easeml.store import ArtefactStore, LocalFiles, Store
from easeml.store.records import Application, Artefact, TrainedModel
from easeml.store.salvage import rebuild

Progress = Callable[[float], None]

_OPEN_TO_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_MIB = 2**20
_MOST_NAMED = 5  # tenants or artefacts in a message


def examine(
    settings: Settings,
    *,
    repair: bool,
    backup: Path | None,
    progress: Progress,
    in_use: bool = False,
) -> list[Finding]:
    """Return what was found at each place of a home, and repair what can be if ``repair``.

    ``backup``: a folder of snapshots from which lost artefacts are fetched. ``progress`` is told
    the share of stored bytes' files that were read. ``in_use``: easeml runs, so that the database
    is not written anew. Nothing is changed without ``repair``.
    """
    findings = [_home(settings, repair=repair), _secret(settings, repair=repair), _space(settings)]
    findings.append(_database(settings, repair=repair and not in_use))
    if findings[-1].state != FindingState.OK:
        return findings
    with closing(Store.found(settings)) as store:
        return [*findings, *_stored(store, repair=repair, backup=backup, progress=progress)]


def _home(settings: Settings, *, repair: bool) -> Finding:
    return _private("home", settings.home, 0o700, repair=repair)


def _secret(settings: Settings, *, repair: bool) -> Finding:
    path = settings.home / "internal.secret"
    if not path.exists():
        return _ok("secret", "There is none yet; the first start makes it.")
    return _private("secret", path, 0o600, repair=repair)


def _private(check: str, path: Path, mode: int, *, repair: bool) -> Finding:
    """Look whether others on this machine can read a path."""
    if not path.stat().st_mode & _OPEN_TO_OTHERS:
        return _ok(check, "Only its owner can read it.")
    if not repair:
        return Finding(
            check=check,
            state=FindingState.WARNING,
            message=f"Others on this machine can read {path}.",
            remedy="easeml doctor --repair takes that from them.",
        )
    path.chmod(mode)
    return _repaired(check, f"Others on this machine could read {path}; now its owner only.")


def _space(settings: Settings) -> Finding:
    free = shutil.disk_usage(settings.home).free
    if free >= LEAST_FREE:
        return _ok("disk", f"{free / _MIB:,.0f} MiB are free.")
    return _failing(
        "disk", f"{free / _MIB:,.0f} MiB are free.", "Free space, or use a larger disk."
    )


def _database(settings: Settings, *, repair: bool) -> Finding:
    try:
        return _ok("database", f"Every page can be read ({_checked(settings)}).")
    except Damaged as error:
        if settings.database_url:
            return _failing("database", error.message, error.remedy)
        if repair:
            return _database_anew(settings)
        remedy = (
            "Stop easeml; easeml doctor --repair then writes the database anew, if all rows can be "
            "read still. If not, make a new home of the newest backup: easeml restore."
        )
        return _failing("database", error.message, remedy)
    except NotFound:
        return _no_database(settings)
    except EasemlError as error:
        return _failing("database", error.message, error.remedy)


def _no_database(settings: Settings) -> Finding:
    """Tell a home that was never started from one whose database is lost."""
    if not settings.artefacts.is_dir() or ArtefactStore(LocalFiles(settings.artefacts)).is_empty():
        return Finding(
            check="database",
            state=FindingState.WARNING,
            message="There is none yet.",
            remedy="The first start makes it: easeml up.",
        )
    return _failing(
        "database",
        "There is none, but data and models are here: it was lost.",
        "Make a new home of the newest backup: easeml restore.",
    )


def _checked(settings: Settings) -> str:
    """Return what the database is, every page of which was read.

    Raises ``Damaged``, and as ``Store.found``.
    """
    with closing(Store.found(settings)) as store:
        store.check_integrity()
        return store.describe()


def _database_anew(settings: Settings) -> Finding:
    path = settings.home / "easeml.db"
    try:
        kept = rebuild(path)
    except Damaged as error:
        remedy = "Make a new home of the newest backup: easeml restore."
        return _failing("database", f"{error.message} Some rows are lost.", remedy)
    message = f"A page was damaged; all rows could be read, and are written anew. Before: {kept}."
    return _repaired("database", message)


def _stored(
    store: Store, *, repair: bool, backup: Path | None, progress: Progress
) -> list[Finding]:
    """Look at the stored bytes: what is lost, what serves of it, and what nobody needs."""
    lost = _lost_artefacts(store, progress)
    still_lost = lost
    if repair and backup is not None:
        still_lost = _fetch_back(store, lost, backup)
    findings = [_artefacts(lost, still_lost)]
    findings += _live_models(store, still_lost, repair=repair)
    findings += [_strangers(store), _leftovers(store, repair=repair)]
    return findings


def _lost_artefacts(store: Store, progress: Progress) -> list[Artefact]:
    with store.read() as tx:
        held = list(tx.unscoped().artefacts.list(limit=None))
    lost = []
    for number, one in enumerate(held, start=1):
        try:
            store.artefacts.verify(one.tenant_id, one.digest)
        except (NotFound, Damaged):
            lost.append(one)
        progress(number / len(held))
    return lost


def _fetch_back(store: Store, lost: list[Artefact], backup: Path) -> list[Artefact]:
    """Fetch lost artefacts from a backup; return those that it does not have either."""
    kept = ArtefactStore(LocalFiles(backup / "artefacts"))
    still_lost = []
    for one in lost:
        try:
            store.artefacts.heal(kept, one.tenant_id, one.digest)
        except (NotFound, Damaged):
            still_lost.append(one)
    return still_lost


def _artefacts(lost: list[Artefact], still_lost: list[Artefact]) -> Finding:
    if not lost:
        return _ok("artefacts", "All data and models are as they were stored.")
    if not still_lost:
        return _repaired("artefacts", f"Back from the backup: {_artefacts_in_words(lost)}.")
    return _failing(
        "artefacts",
        f"Gone or damaged: {_artefacts_in_words(still_lost)}.",
        "Fetch what is lost from a backup: easeml doctor --repair --backup PATH.",
    )


def _artefacts_in_words(found: list[Artefact]) -> str:
    """Return how many they are, with the names of the first."""
    names = ", ".join(map(_name, found[:_MOST_NAMED]))
    return f"{counted(len(found), 'artefact')} ({names})"


def _name(artefact: Artefact) -> str:
    return f"{artefact.tenant_id}/{artefact.digest[:12]}"


def _live_models(store: Store, lost: list[Artefact], *, repair: bool) -> list[Finding]:
    digests = {one.digest for one in lost}
    findings = []
    for application, model in _served(store):
        if model.served in digests:
            finding = _lost_model(store, application, model, repair=repair)
            findings.append(finding)
    if not findings:
        findings.append(_ok("live models", "The files of all models that serve are there."))
    return findings


def _lost_model(
    store: Store, application: Application, model: TrainedModel, *, repair: bool
) -> Finding:
    """Tell of a model that serves and whose files are lost; a repair lets another one serve."""
    if not repair:
        return _failing(
            "live model",
            f"{application.name}: the files of {model.name}, which serves, are lost.",
            "easeml doctor --repair lets the best that is left serve.",
        )
    with store.write() as tx:
        registry = knowledge_base.current(tx)
        lost_models.give_up(tx, application, model, "its files are lost", registry)
    message = f"{application.name}: {model.name} was lost; the best that is left serves."
    return _repaired("live model", message)


def _served(store: Store) -> Iterator[tuple[Application, TrainedModel]]:
    """Give the applications that serve a model, each with it."""
    with store.read() as tx:
        tables = tx.unscoped()
        models = tables.models.by_id()
        applications = tables.applications.list(limit=None)
    for application in applications:
        if application.live_model_id:
            yield application, models[application.live_model_id]


def _strangers(store: Store) -> Finding:
    """Look for stored bytes of tenants that the database does not know."""
    files = releasing.of_strangers(store)
    if not files:
        return _ok("tenants", "All that is stored belongs to tenants of this database.")
    tenants = ", ".join(sorted({file.tenant_id for file in files})[:_MOST_NAMED])
    size = sum(file.size for file in files) / _MIB
    return _failing(
        "tenants",
        f"{counted(len(files), 'file')} ({size:,.1f} MiB) of tenants that the database does not "
        f"know: {tenants}. Another database, or a later state of this one, refers to them.",
        "Start easeml with that database, or make a new home of the newest backup: easeml restore. "
        "What nobody wants back may be removed by hand.",
    )


def _leftovers(store: Store, *, repair: bool) -> Finding:
    """Look for stored bytes that no row names any more, older than a day."""
    strays = releasing.strays(store)
    if not strays:
        return _ok("leftovers", "All that is stored is needed.")
    if not repair:
        size = sum(file.size for file in strays) / _MIB
        return Finding(
            check="leftovers",
            state=FindingState.WARNING,
            message=f"Needed by nothing: {counted(len(strays), 'file')} ({size:,.1f} MiB).",
            remedy="easeml doctor --repair removes what is not needed.",
        )
    count, size = releasing.remove(store, strays)
    said = f"{counted(count, 'file')} ({size / _MIB:,.1f} MiB)"
    return _repaired("leftovers", f"Removed, as nothing needed it: {said}.")


def _ok(check: str, message: str) -> Finding:
    return Finding(check=check, state=FindingState.OK, message=message)


def _failing(check: str, message: str, remedy: str) -> Finding:
    return Finding(check=check, state=FindingState.FAILING, message=message, remedy=remedy)


def _repaired(check: str, message: str) -> Finding:
    return Finding(check=check, state=FindingState.OK, message=message, repaired=True)
