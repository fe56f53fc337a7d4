"""Who signs in, and by what; whose the rows are."""

from dataclasses import dataclass, field

from easeml.contract.states import (
    InvitationKind,
    InvitationState,
    KeyKind,
    KeyScope,
    MemberRole,
    Role,
)
from easeml.store.shapes import Json, TenantLimits


@dataclass(frozen=True, slots=True)
class Tenant:
    """The unit of isolation, fairness and quota."""

    id: str
    name: str
    created: float = 0.0
    limits: TenantLimits = field(default_factory=TenantLimits)


@dataclass(frozen=True, slots=True)
class User:
    """A person who signs in."""

    id: str
    name: str
    password_hash: str
    role: Role = Role.USER
    tenant_id: str = ""  # the tenant of their own
    archived: bool = False
    created: float = 0.0
    read_seq: int = 0  # number of the event up to which they have read their notifications
    removed: bool = False  # for good: nobody sees them, and their name is free
    identity: str | None = None  # issuer and id of a user who signs in by an identity provider
    identity_name: str = ""  # what people know that identity by


@dataclass(frozen=True, slots=True)
class Membership:
    """A user belongs to a tenant."""

    id: str
    user_id: str
    tenant_id: str
    created: float = 0.0
    role: MemberRole = MemberRole.OWNER


@dataclass(frozen=True, slots=True)
class Invitation:
    """A link that lets one person in, once. ``hash``: SHA-256 of its secret, hex.

    ``tenant_id``: of the person who invites. ``made_by``, ``used_by``: users. ``application_id``:
    empty where it is not about one.
    """

    id: str
    tenant_id: str
    hash: str
    kind: InvitationKind
    role: MemberRole
    made_by: str
    expires: float
    application_id: str = ""
    state: InvitationState = InvitationState.OPEN
    used_by: str = ""
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A named, hashed, revocable, expiring key of a user, acting in one tenant.

    ``hash``: SHA-256, hex. ``origin``: of a sign-in, the program and the address that asked for it.
    ``application_id``: the only application that a key for predictions may ask. ``used``: when it
    was last seen.
    """

    id: str
    user_id: str
    tenant_id: str
    name: str
    hash: str
    expires: float | None = None
    revoked: bool = False
    created: float = 0.0
    kind: KeyKind = KeyKind.API
    origin: str = ""
    scope: KeyScope = KeyScope.ALL
    application_id: str = ""
    used: float | None = None


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A creation that was acknowledged: the same key again gives the same answer.

    ``id``: tenant, route, key.
    """

    id: str
    tenant_id: str
    request_digest: str
    response: Json
    created: float = 0.0
