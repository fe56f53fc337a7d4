"""The REST types of what a provider sees of their easeml."""

from typing import Any

from pydantic import Field

from easeml.contract.resources import Answer, Request
from easeml.contract.retention import Amount, Collected
from easeml.contract.times import Moment


class TenantLimits(Request):
    """What a tenant may use; null: no limit.

    ``priority`` weighs its gains and its turns (null: 1). ``devices``: most training tasks at once.
    ``seconds``: most device seconds of the searches it has open; ``month_seconds``: in a calendar
    month (UTC), of all that is computed for it. ``storage``: bytes of data and models. ``uploads``:
    most unfinished uploads. ``requests``: most requests for predictions a second.
    """

    priority: float | None = Field(None, gt=0, le=1000)
    devices: int | None = Field(None, ge=0, le=10_000)
    seconds: float | None = Field(None, ge=0, le=2**32 - 1)
    storage: int | None = Field(None, ge=0, le=2**60)
    applications: int | None = Field(None, ge=0, le=10**6)
    month_seconds: float | None = Field(None, ge=0, le=2**32 - 1)
    uploads: int | None = Field(None, ge=0, le=10_000)
    requests: float | None = Field(None, gt=0, le=10**6)


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
    created: Moment
    limits: TenantLimits
    training: int = 0
    open_cost: float = 0.0
    waiting: int = 0


class TenantUsage(Answer):
    """What a tenant uses of what it may.

    ``seconds``: device seconds on each day of ``Usage.days``; ``month_seconds``: in this month.
    ``stored``: bytes. ``uploads``: unfinished ones. ``training``: training tasks that run now.
    ``waits``: what its searches wait for, each in a sentence, with the names of applications.
    """

    tenant_id: str
    name: str
    limits: TenantLimits
    seconds: list[float]
    month_seconds: float
    open_seconds: float
    stored: int
    uploads: int
    applications: int
    training: int
    waits: list[str] = Field(default_factory=list)


class Usage(Answer):
    """Device seconds of tenants by day. ``days``: in UTC, ISO, oldest first; the last is today."""

    days: list[str]
    tenants: list[TenantUsage]


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
    on. ``kinds``: what the artefacts are. ``last``: what the last look of retention let go that
    found something.
    """

    database: int | None
    artefacts: int
    disk: int
    free: int
    kinds: list[Amount] = Field(default_factory=list)
    last: Collected | None = None


class AuditEvent(Answer):
    """Something that happened to a tenant.

    ``by``: the name of who did it, or their id where they are removed; empty: the service itself.
    """

    seq: int
    by: str = ""
    tenant: str
    kind: str
    subject: str
    data: dict[str, Any]
    created: Moment
