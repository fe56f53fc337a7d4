"""What the visitor may do: templates ask ``may`` of an application, ``home`` of their tenant."""

from collections.abc import Collection
from dataclasses import dataclass

from easeml.contract.accounts import User
from easeml.contract.permissions import OF_MEMBER, OF_SHARE
from easeml.contract.states import Permission, ShareRole


@dataclass(frozen=True, slots=True)
class Allowed:
    """Which permissions somebody has; see ``Permission``."""

    look: bool
    label: bool
    change: bool


def allowed(permissions: Collection[Permission]) -> Allowed:
    """Return permissions as templates ask for them."""
    return Allowed(**{one.value: one in permissions for one in Permission})


def at_home(user: User | None) -> Allowed:
    """Return what a visitor may do in the tenant that they act in; a stranger nothing."""
    return allowed(OF_MEMBER[user.member] if user else ())


def entry(role: ShareRole) -> str:
    """Return which page of a shared application is the first that a role may see."""
    return "" if Permission.LOOK in OF_SHARE[role] else "/work"
