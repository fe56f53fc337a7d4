"""Who asks."""

from dataclasses import dataclass, field

from easeml.contract.states import Role
from easeml.errors import NotAllowed


@dataclass(frozen=True, slots=True)
class Caller:
    """A user who was authenticated, acting in one tenant. ``role``: ``user`` or ``provider``."""

    user_id: str
    tenant_id: str
    role: Role = Role.USER
    key_id: str = field(default="", compare=False)  # the key that they sent

    @property
    def is_provider(self) -> bool:
        """Do they run this easeml?"""
        return self.role == Role.PROVIDER

    def require_provider(self) -> None:
        """Raise ``NotAllowed`` for everybody but a provider."""
        if not self.is_provider:
            raise NotAllowed(
                "Only a provider of this easeml may do this.", remedy="Ask the one who runs it."
            )
