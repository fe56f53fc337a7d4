"""Signing in, API keys and users."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, status

from easeml.api.context import After, Asker, Here, Limit, OnceKey
from easeml.api.operations import Operation, add_routes
from easeml.api.visitors import address_of, origin_of
from easeml.contract.accounts import (
    Access,
    Joined,
    Joining,
    Key,
    LoginRequest,
    Look,
    NewUser,
    PasswordChange,
    RoleChange,
    ShownInvitation,
    User,
)
from easeml.contract.resources import Page
from easeml.service.accounts import invitations, joining, keys, members, users
from easeml.service.events import notifications

OfUser = Annotated[str | None, Query(max_length=100, description="id of a user")]

_ID = "{invitation_id}"
_OF_APPLICATION = "/applications/{application_id}/invitations"
OPERATIONS = (
    Operation("me", "GET", "/me", users.get_user),
    Operation("notifications", "GET", "/notifications", notifications.get),
    Operation("mark_read", "POST", "/notifications/read", notifications.mark_read),
    Operation("end_sign_ins", "DELETE", "/sign-ins", keys.end_sign_ins),
    Operation("create_key", "POST", "/keys", keys.create_key, status=201),
    Operation("users", "GET", "/users", users.list_users),
    Operation("act_in", "POST", "/me/tenant", keys.act_in, status=201, repeatable=False),
    Operation("members", "GET", "/members", members.list_members),
    Operation("change_member", "POST", "/members/{user_id}", members.change_member),
    Operation("end_member", "DELETE", "/members/{user_id}", members.end_member, repeatable=False),
    Operation("invite", "POST", "/invitations", invitations.invite, status=201, repeatable=False),
    Operation("invitations", "GET", "/invitations", invitations.list_invitations),
    Operation("revoke_invitation", "DELETE", f"/invitations/{_ID}", invitations.revoke),
    Operation(
        "invite_to_application",
        "POST",
        _OF_APPLICATION,
        invitations.invite_to_application,
        status=201,
        repeatable=False,
    ),
    Operation("application_invitations", "GET", _OF_APPLICATION, invitations.list_of_application),
    Operation(
        "revoke_application_invitation",
        "DELETE",
        f"{_OF_APPLICATION}/{_ID}",
        invitations.revoke_of_application,
    ),
)

router = APIRouter(tags=["accounts"])
add_routes(router, OPERATIONS)


@router.post("/login", status_code=status.HTTP_201_CREATED)
async def login(here: Here, request: Request, wish: LoginRequest) -> Key:
    """Sign in with name and password: makes a key that expires, shown with its secret.

    429 after too many wrong passwords in a minute, of a name or from an address.
    """
    address = address_of(request)
    here.sign_ins.admit(wish.name, address)
    key = await here.hash(keys.sign_in, here.store, wish.name, wish.password, origin_of(request))
    here.sign_ins.succeeded(wish.name, address)
    return key


@router.post("/invitations/look")
def look_at_invitation(here: Here, request: Request, wish: Look) -> ShownInvitation:
    """Tell what an invitation leads to, to who has its link; needs no key.

    429 after too many wrong ones in a minute.
    """
    name = _holder(wish.secret)
    address = address_of(request)
    here.sign_ins.admit(name, address)
    shown = invitations.look(here.store, wish.secret)
    here.sign_ins.succeeded(name, address)
    return shown.model_copy(update={"identity_provider": here.settings.identity_provider_name})


@router.post("/invitations/accept", status_code=status.HTTP_201_CREATED)
async def accept_invitation(here: Here, request: Request, wish: Joining) -> Joined:
    """Take an invitation, as a new user or with one's own name and password; needs no key.

    Makes a key, as signing in does. 429 after too many wrong ones in a minute.
    """
    address = address_of(request)
    here.sign_ins.admit(wish.name, address)
    joined = await here.hash(joining.accept, here.store, wish, origin_of(request))
    here.sign_ins.succeeded(wish.name, address)
    here.authenticator.forget()
    here.doors.forget()
    return joined


@router.post("/logout", status_code=status.HTTP_204_NO_CONTENT)
def logout(here: Here, asker: Asker) -> None:
    """Sign out: ends the key that this request carries, for good."""
    keys.sign_out(here.store, asker)
    here.authenticator.forget()


@router.get("/keys")
def list_keys(
    here: Here, asker: Asker, user: OfUser = None, after: After = None, limit: Limit = 50
) -> Page[Key]:
    """List the caller's keys, or those of a user (providers only), without secrets."""
    return keys.list_keys(here.store, asker, user_id=user, after=after, limit=limit)


@router.delete("/keys/{key_id}", status_code=status.HTTP_204_NO_CONTENT)
def revoke_key(here: Here, asker: Asker, key_id: str) -> None:
    """End a key for good: the caller's, or anybody's for a provider."""
    keys.revoke_key(here.store, asker, key_id)
    here.authenticator.forget()


@router.post("/users", status_code=status.HTTP_201_CREATED)
async def create_user(here: Here, asker: Asker, wish: NewUser, once: OnceKey = None) -> User:
    """Make a user with a tenant of their own (providers only)."""
    return await here.hash(users.create_user, here.store, asker, wish, idempotency_key=once)


@router.post("/users/{user_id}/password", status_code=status.HTTP_204_NO_CONTENT)
async def change_password(here: Here, asker: Asker, user_id: str, change: PasswordChange) -> None:
    """Set a password and end the user's sign-ins."""
    await here.hash(users.change_password, here.store, asker, user_id, change)
    here.authenticator.forget()


@router.post("/users/{user_id}/role")
def change_role(here: Here, asker: Asker, user_id: str, change: RoleChange) -> User:
    """Make a user a provider, or a provider a user (providers only); one provider stays."""
    changed = users.change_role(here.store, asker, user_id, change.role)
    here.authenticator.forget()
    return changed


@router.post("/users/{user_id}/access")
def set_access(here: Here, asker: Asker, user_id: str, change: Access) -> User:
    """Shut a user out and end all their keys, or let them in again (providers only)."""
    changed = users.set_access(here.store, asker, user_id, change.disabled)
    here.authenticator.forget()
    return changed


def _holder(secret: str) -> str:
    """Return a name for who holds a secret, by which attempts are counted."""
    return f"invitation {keys.digest(secret)}"
