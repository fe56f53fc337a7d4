"""The REST types of people: users, their keys and their passwords."""

from pydantic import Field

from easeml.contract.resources import Answer, Request
from easeml.contract.states import KeyKind, Role


class LoginRequest(Request):
    """Name and password of a user."""

    name: str
    password: str


class NewKey(Request):
    """Wish for an API key; ``expires_in`` in seconds, null for a key that does not expire."""

    name: str = Field(min_length=1, max_length=100)
    expires_in: float | None = Field(None, gt=0)


class Key(Answer):
    """An API key; ``secret`` is there once, when it is made."""

    id: str
    name: str
    tenant_id: str
    created: float
    expires: float | None = None
    revoked: bool = False
    kind: KeyKind = KeyKind.API  # made by a person, or by signing in
    secret: str | None = None


class NewUser(Request):
    """A person; made with a tenant of their own, which has their name."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$")
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


class User(Answer):
    """A person who signs in."""

    id: str
    name: str
    role: str
    tenant_id: str
    created: float
    disabled: bool = False  # may not sign in, and no key works
    unread: int = 0  # notifications, of who asks; at most 100 are counted
