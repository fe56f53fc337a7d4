"""easeml: a self-hosted, multi-tenant, declarative machine-learning service."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from easeml.relation import Relation

__all__ = ["Relation"]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Load what needs pandas when it is first asked for."""
    if name == "Relation":
        from easeml.relation import Relation

        return Relation
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
