"""The caller of a use case: a user, the tenant that they act in, and what they may do there."""

from dataclasses import dataclass, field

from easeml.contract.permissions import OF_MEMBER
from easeml.contract.states import KeyScope, MemberRole, Permission, Role
from easeml.errors import NotAllowed, NotFound


@dataclass(frozen=True, slots=True)
class Caller:
    """A user who was authenticated, acting in one tenant. ``role``: ``user`` or ``provider``.

    ``member``: what they may do in the tenant. Use cases do not look at it: what it does not allow
    is refused before any route is looked up (``service.access.sharing``). Nor do they look at
    ``scope`` and ``application_id``, which are of the key (``service.access.scopes``).
    ``granted``: what they may do with the application that they ask for, where that was shared; it
    is told to them.
    ``key_seconds``: how long the key was good for when it was looked up; None: it does not expire.
    """

    user_id: str
    tenant_id: str
    role: Role = Role.USER
    key_id: str = field(default="", compare=False)  # the key that they sent
    member: MemberRole = MemberRole.OWNER
    scope: KeyScope = KeyScope.ALL
    application_id: str = ""
    key_seconds: float | None = field(default=None, compare=False)
    granted: frozenset[Permission] | None = None

    @property
    def is_provider(self) -> bool:
        """Do they run this easeml?"""
        return self.role == Role.PROVIDER

    @property
    def is_limited(self) -> bool:
        """May they do less than all in their tenant?"""
        return self.member != MemberRole.OWNER

    @property
    def may(self) -> frozenset[Permission]:
        """What they may do with the application that they ask for, or with each of a list."""
        if self.granted is None:
            return OF_MEMBER[self.member]
        return self.granted

    def require_self_or_provider(self, user_id: str) -> None:
        """Raise ``NotFound`` if the caller asks about somebody else and is not a provider."""
        if user_id != self.user_id and not self.is_provider:
            raise NotFound("There is no such user.", where=user_id)

    def require_provider(self) -> None:
        """Raise ``NotAllowed`` for everybody but a provider."""
        if not self.is_provider:
            raise NotAllowed(
                "Only a provider of this easeml may do this.", remedy="Ask the one who runs it."
            )
