"""Who asks."""

from dataclasses import dataclass, field

from easeml.contract.states import MemberRole, Role
from easeml.errors import NotAllowed


@dataclass(frozen=True, slots=True)
class Caller:
    """A user who was authenticated, acting in one tenant. ``role``: ``user`` or ``provider``.

    ``member``: what they may do in the tenant. Use cases do not look at it: what it does not allow
    is refused before any route is looked up (``service.access.sharing``).
    """

    user_id: str
    tenant_id: str
    role: Role = Role.USER
    key_id: str = field(default="", compare=False)  # the key that they sent
    member: MemberRole = MemberRole.OWNER

    @property
    def is_provider(self) -> bool:
        """Do they run this easeml?"""
        return self.role == Role.PROVIDER

    @property
    def is_limited(self) -> bool:
        """May they do less than all in their tenant?"""
        return self.member != MemberRole.OWNER

    def require_provider(self) -> None:
        """Raise ``NotAllowed`` for everybody but a provider."""
        if not self.is_provider:
            raise NotAllowed(
                "Only a provider of this easeml may do this.", remedy="Ask the one who runs it."
            )
