"""Signing in, API keys and users."""

from fastapi import APIRouter, Request, status

from easeml.api.context import Here
from easeml.api.operations import Operation, add_routes
from easeml.api.request_origin import address_of, origin_of
from easeml.contract.accounts import Joined, Joining, Key, LoginRequest, Look, ShownInvitation
from easeml.service.accounts import invitations, joining, keys, members, users
from easeml.service.events import notifications

_ID = "{invitation_id}"
_OF_APPLICATION = "/applications/{application_id}/invitations"
OPERATIONS = (
    Operation("logout", "POST", "/logout", keys.sign_out, status=204, changes_access=True),
    Operation("me", "GET", "/me", users.get_user),
    Operation("notifications", "GET", "/notifications", notifications.get),
    Operation("mark_read", "POST", "/notifications/read", notifications.mark_read),
    Operation("end_sign_ins", "DELETE", "/sign-ins", keys.end_sign_ins),
    Operation("create_key", "POST", "/keys", keys.create_key, status=201),
    Operation("api_keys", "GET", "/keys", keys.list_keys),
    Operation(
        "revoke_key",
        "DELETE",
        "/keys/{key_id}",
        keys.revoke_key,
        status=204,
        changes_access=True,
    ),
    Operation("users", "GET", "/users", users.list_users),
    Operation("create_user", "POST", "/users", users.create_user, status=201, hashes=True),
    Operation(
        "change_password",
        "POST",
        "/users/{user_id}/password",
        users.change_password,
        status=204,
        repeatable=False,
        hashes=True,
        changes_access=True,
    ),
    Operation(
        "change_role", "POST", "/users/{user_id}/role", users.change_role, changes_access=True
    ),
    Operation(
        "set_access", "POST", "/users/{user_id}/access", users.set_access, changes_access=True
    ),
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
    """Tell a person with its link what an invitation leads to; needs no key.

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


def _holder(secret: str) -> str:
    """Return a name for the holder of a secret, by which attempts are counted."""
    return f"invitation {keys.digest(secret)}"
