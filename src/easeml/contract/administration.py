"""The REST types of what a provider sees of their easeml."""

from typing import Any

from pydantic import Field

from easeml.contract.resources import Answer, Request


class TenantLimits(Request):
    """What a tenant may use; null: no limit.

    ``priority`` weighs its gains and its turns (null: 1). ``devices``: most training tasks at once.
    ``seconds``: most device seconds of the searches it has open. ``storage``: bytes of data and
    models.
    """

    priority: float | None = Field(None, gt=0, le=1000)
    devices: int | None = Field(None, ge=0, le=10_000)
    seconds: float | None = Field(None, ge=0, le=2**32 - 1)
    storage: int | None = Field(None, ge=0, le=2**60)
    applications: int | None = Field(None, ge=0, le=10**6)


class Tenant(Answer):
    """A tenant in numbers. ``cost``: device seconds; ``stored``: bytes of artefacts.

    ``training``: training tasks that run now. ``open_cost``: device seconds of the searches that
    it has open. ``waiting``: tasks that wait.
    """

    id: str
    name: str
    users: int
    applications: int
    tasks: int
    cost: float
    stored: int
    created: float
    limits: TenantLimits
    training: int = 0
    open_cost: float = 0.0
    waiting: int = 0


class Setting(Answer):
    """A setting in force. ``origin``: flag, environment, database, config.toml or default.

    In the database are settings that were changed while easeml runs.
    """

    name: str
    value: str
    origin: str
    about: str


class Storage(Answer):
    """Bytes: of the database (None where it is a server), of artefacts, and of the disk they lie
    on.
    """

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
