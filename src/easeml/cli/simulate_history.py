"""``simulate search --from-history``: what other policies would have done with the past of a home."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from easeml.cli.local_home import settings_of
from easeml.errors import InvalidInput


def compare_history(
    home: Path | None,
    policies: Sequence[str],
    devices: int | None,
    progress: Callable[[float], None],
) -> dict[str, Any]:
    """Return the comparison of policies on the searches that a home has recorded.

    Beside what ``compare`` tells: the curve of what ``happened``, and how many decisions were
    recorded and are made again by their own policy. Raises ``InvalidInput`` for a folder that is no
    home, ``NotReady`` where nothing was recorded.
    """
    from easeml.search.simulator import compare_recorded, curve_json
    from easeml.service.scheduling import history
    from easeml.store import Store

    settings = settings_of(home=home)
    _check_home(settings)
    store = Store.found(settings)
    try:
        past = history.read(store)
    finally:
        store.close()
    used = past.devices if devices is None else devices
    found = compare_recorded(past.searches, policies, used, progress=progress).to_json()
    found["happened"] = curve_json(past.searches.happened)
    found["decisions"] = past.replayed.decisions
    found["decided_again"] = past.replayed.identical
    return found


def _check_home(settings: Any) -> None:
    """Raise ``InvalidInput`` where there is no database to read."""
    if not settings.database_url and not (settings.home / "easeml.db").is_file():
        raise InvalidInput(
            "There is no easeml in this folder.",
            where=str(settings.home),
            remedy="Name the folder that easeml up was started with: --home DIR.",
        )
