"""What is checked before anything starts: a process could not start with it, or do its work."""

from easeml.confinement import check_available
from easeml.errors import Conflict
from easeml.service.accounts import users
from easeml.settings import Settings
from easeml.store import Store

from .messages.collector import collector_of
from .messages.mail import mail_of
from .networks import networks_of


def check(settings: Settings) -> None:
    """Check that processes can start with these settings, and do their work.

    Raises ``Conflict`` if tasks cannot be isolated as demanded, ``InvalidInput`` if there is no
    such executor or an address of the settings is none, ``Unreachable`` if the executor's cluster does
    not answer.
    """
    check_available(settings.home, settings.isolation)
    networks_of(settings.trusted_proxies)
    mail_of(settings)
    collector_of(settings)
    if settings.openid_issuer:
        from easeml.openid import provider_of  # which takes time, and most have none

        provider_of(settings)
    if settings.executor != "local":
        # Executors import what tasks need, for which a supervisor does not wait otherwise.
        from .executors import check_executor

        check_executor(settings.executor)


def check_database(store: Store) -> None:
    """Raise ``Conflict`` for a database that has no users yet, where data and models are stored.

    They belong to another one, which was lost, or has another address.
    """
    if users.are_there(store) or store.artefacts.is_empty():
        return
    raise Conflict(
        f"The database is new ({store.describe()}), but data and models of another one are here.",
        remedy="Check database_url. If the database was lost, make a new home of the newest backup: "
        "easeml restore. To begin anew, name another home.",
    )
