"""The REST types of what a provider sees of his easeml."""

from typing import Any

from easeml.contract.resources import Answer


class Tenant(Answer):
    """A tenant in numbers. ``cost``: device seconds; ``stored``: bytes of artefacts."""

    id: str
    name: str
    users: int
    applications: int
    tasks: int
    cost: float
    stored: int
    created: float


class Setting(Answer):
    """A setting in force. ``origin``: flag, environment, config.toml or default."""

    name: str
    value: str
    origin: str
    about: str


class Storage(Answer):
    """Bytes: of the database (None where it is a server), of artefacts, and of the disk they lie on."""

    database: int | None
    artefacts: int
    disk: int
    free: int


class AuditEvent(Answer):
    """Something that happened to a tenant."""

    seq: int
    tenant: str
    kind: str
    subject: str
    data: dict[str, Any]
    created: float
