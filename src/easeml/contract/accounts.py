"""The REST types of people: users, their keys and their passwords."""

from typing import Annotated

from pydantic import Field

from easeml.contract.resources import Answer, Request
from easeml.contract.states import (
    DataChoice,
    InvitationKind,
    InvitationState,
    KeyKind,
    KeyScope,
    MemberRole,
    Role,
    ShareRole,
)
from easeml.contract.times import Moment

SeenAt = Annotated[
    str,
    Field(max_length=300, description="scheme and host at which a person's browser sees easeml"),
]
USER_NAME = r"^[a-z0-9][a-z0-9._-]{0,62}$"


class LoginRequest(Request):
    """Name and password of a user."""

    name: str
    password: str


class NewKey(Request):
    """Wish for an API key; ``expires_in`` in seconds, null for a key that does not expire.

    ``scope``: what it may be used for, of what its owner may do. ``application_id``: the only
    application that a key for predictions may ask; empty: all that its owner may ask.
    """

    name: str = Field(min_length=1, max_length=100)
    expires_in: float | None = Field(None, gt=0)
    scope: KeyScope = KeyScope.ALL
    application_id: str = Field("", max_length=100)


class Key(Answer):
    """An API key; ``secret`` is there once, when it is made.

    ``used``: when it was last seen, to the minute; null where it never was.
    """

    id: str
    name: str
    tenant_id: str
    created: Moment
    expires: Moment | None = None
    revoked: bool = False
    kind: KeyKind = KeyKind.API  # made by a person, or by signing in
    origin: str = ""  # of a sign-in: the program and the address that asked for it
    scope: KeyScope = KeyScope.ALL
    application_id: str = ""  # the only one that it may ask for predictions
    used: Moment | None = None
    is_yours_now: bool = False  # it is the one that this request came with
    secret: str | None = None


class EndedSignIns(Answer):
    """How many sign-ins were ended."""

    ended: int


class NewUser(Request):
    """A person; made with a tenant of their own, which has their name."""

    name: str = Field(pattern=USER_NAME)
    password: str = Field(min_length=8, max_length=1000)


class Access(Request):
    """Whether a user may use this easeml."""

    disabled: bool


class RoleChange(Request):
    """What a user may do: a provider runs this easeml and sees all tenants."""

    role: Role


class PasswordChange(Request):
    """A new password; the old one proves who asks (the provider may leave it out for others)."""

    old: str = ""
    new: str = Field(min_length=8, max_length=1000)


class Belonging(Answer):
    """A tenant that somebody belongs to, and what they may do there."""

    tenant_id: str
    name: str
    role: MemberRole


class User(Answer):
    """A person who signs in.

    ``member``: what the caller may do in the tenant that they act in, ``acts_in``; ``looks``: may
    they look at any application, of this tenant or of those that others share with them? ``tenants``:
    all that they belong to. Of others these are not told.
    """

    id: str
    name: str
    role: str
    tenant_id: str
    created: Moment
    disabled: bool = False  # may not sign in, and no key works
    has_password: bool = True
    identity: str = ""  # whom an identity provider knows them as; empty: they have no such sign-in
    identity_provider: str = ""  # the name of the provider of this easeml; empty: there is none
    unread: int = 0  # notifications of the caller; at most 100 are counted
    member: MemberRole = MemberRole.OWNER
    looks: bool = True
    acts_in: str = ""
    tenants: list[Belonging] = Field(default_factory=list)


class Member(Answer):
    """A person who belongs to a tenant.

    ``applications``: names of those that were shared with them, each with their role.
    """

    user_id: str
    name: str
    role: MemberRole
    since: Moment
    disabled: bool = False
    applications: dict[str, ShareRole] = Field(default_factory=dict)


class Invitation(Answer):
    """A link that lets one person in, once, before it ``expires``.

    ``application_id``, ``application``: empty where it leads to a tenant. ``by``, ``used_by``:
    names of users. ``secret`` and ``path``, the page of this service that takes it, are there once,
    when it is made, and so is ``link``, where this service knows the address that people use.
    """

    id: str
    kind: InvitationKind
    role: MemberRole
    tenant: str
    application_id: str = ""
    application: str = ""
    by: str
    state: InvitationState
    created: Moment
    expires: Moment
    used_by: str = ""
    secret: str | None = None
    path: str | None = None
    link: str | None = None

    def state_at(self, now: float) -> str:
        """Return the state in a word: an open one is over when its time is."""
        if self.state == InvitationState.OPEN and self.expires <= now:
            return "over"
        return self.state


class ShownInvitation(Answer):
    """What an invitation says to the person who holds it."""

    kind: InvitationKind
    role: MemberRole
    tenant: str
    application: str = ""
    by: str
    expires: Moment
    identity_provider: str = ""  # whom one may also take it by; empty: nobody


class Look(Request):
    """The secret of an invitation: the last part of its link."""

    secret: str = Field(min_length=1, max_length=200)


class Joining(Request):
    """Somebody takes an invitation: as a new user, or as one who is there, with their password."""

    secret: str = Field(min_length=1, max_length=200)
    name: str = Field(pattern=USER_NAME)
    password: str = Field(min_length=8, max_length=1000)


class Joined(Answer):
    """Who took an invitation: their key, as after signing in, and the page that it led to."""

    key: Key
    user_id: str
    path: str


class SignInWays(Answer):
    """How one can sign in beside a password.

    ``identity_provider``: its name; empty where there is none.
    """

    identity_provider: str


class IdentityAsked(Answer):
    """Where to send the person's browser, and what it keeps until it comes back."""

    url: str
    state: str
    nonce: str
    verifier: str


class IdentityAnswer(Request):
    """What the person's browser came back with from the identity provider.

    ``invitation``: the secret of one that is to be taken.
    """

    site: SeenAt
    code: str = Field(min_length=1, max_length=5000)
    nonce: str = Field(min_length=1, max_length=200)
    verifier: str = Field(min_length=1, max_length=200)
    invitation: str = Field("", max_length=200)


class Removal(Answer):
    """A user who was removed for good.

    ``data``: what became of their tenant. ``to``: the name of its new owner. ``applications``:
    names of those that were deleted; for a day an owner of the tenant can have them back.
    ``datasets``: names of those that were deleted with them. ``ownerless``: ids of tenants that
    nobody owns any more.
    """

    user_id: str
    name: str
    tenant_id: str
    data: DataChoice
    to: str = ""
    applications: list[str] = Field(default_factory=list)
    datasets: list[str] = Field(default_factory=list)
    ownerless: list[str] = Field(default_factory=list)
