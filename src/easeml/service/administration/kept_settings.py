"""Settings that a provider changes while easeml runs: they are kept in the database.

A flag or an environment variable counts more, the database more than ``config.toml``.
"""

from typing import Annotated

from pydantic import Field

from easeml.contract.administration import Setting
from easeml.errors import Conflict, InvalidInput
from easeml.search import policy_named
from easeml.service.access.caller import Caller
from easeml.service.knowledge import knowledge_base
from easeml.service.knowledge.optimizers import optimizer_of
from easeml.settings import Settings
from easeml.store import Store, Transaction
from easeml.store.records import KeptSetting

EVENT = "setting.changed"
DATABASE = "database"
_FIXED = ("flag", "environment")  # origins that count more than the database


def _check_policy(tx: Transaction, name: str) -> None:
    policy_named(name)


def _check_optimizer(tx: Transaction, name: str) -> None:
    optimizer_of(knowledge_base.current(tx), name)


# Settings that can be changed, and what refuses a wrong value.
_CHECKS = {"policy": _check_policy, "optimizer": _check_optimizer}

Value = Annotated[str, Field(min_length=1, max_length=100, description="what it is to be")]


def change(store: Store, settings: Settings, caller: Caller, name: str, *, value: Value) -> Setting:
    """Change a setting while easeml runs (providers only); the scheduler follows at once.

    Only ``policy`` and ``optimizer`` can be changed so. Raises ``NotAllowed``, ``InvalidInput`` for
    another setting or a value that it cannot have, ``Conflict`` where a flag or an environment
    variable sets it.
    """
    caller.require_provider()
    if name not in _CHECKS:
        raise InvalidInput(
            "This setting cannot be changed while easeml runs.",
            where=name,
            remedy=f"Change it in config.toml and start again. Here: {', '.join(_CHECKS)}.",
        )
    origin = settings.origins().get(name, "default")
    if origin in _FIXED:
        raise Conflict(
            f"The {name} is set by the {_spoken(name, origin)}, which counts more.",
            where=name,
            remedy="Start easeml without it, then change the setting here.",
        )
    with store.write() as tx:
        _CHECKS[name](tx, value)
        tx.kept_settings.ensure(KeptSetting(name, value))
        tx.kept_settings.update(name, value=value)
        data = {"by": caller.user_id, "value": value}
        tx.events.append(EVENT, name, data, caller.tenant_id)
    about = Settings.model_fields[name].description or ""
    return Setting(name=name, value=value, origin=DATABASE, about=about)


def kept(tx: Transaction, settings: Settings) -> dict[str, str]:
    """Return the kept settings that are in force, by name."""
    origins = settings.origins()
    found = dict(tx.kept_settings.pick("id", "value"))
    return {name: value for name, value in found.items() if origins.get(name) not in _FIXED}


def policy_in_force(store: Store, settings: Settings) -> str:
    """Return the name of the policy that the scheduler runs."""
    with store.read() as tx:
        return kept(tx, settings).get("policy", settings.policy)


def _spoken(name: str, origin: str) -> str:
    return f"environment variable EASEML_{name.upper()}" if origin == "environment" else "flag"
