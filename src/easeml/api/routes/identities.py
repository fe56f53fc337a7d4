"""Signing in by an identity provider (OpenID Connect), which most need no key for."""

from fastapi import APIRouter, Request, status
from fastapi.concurrency import run_in_threadpool

from easeml.api.context import Asker, Context, Here
from easeml.api.operations import Operation, add_routes
from easeml.api.request_origin import address_of, origin_of
from easeml.contract.accounts import (
    IdentityAnswer,
    Joined,
    User,
)
from easeml.openid import Identity
from easeml.service.accounts import identities, users

OPERATIONS = (
    Operation("sign_in_ways", "GET", "/sign-in/ways", identities.ways),
    Operation("ask_identity", "POST", "/sign-in/identity/ask", identities.ask),
    Operation("disconnect_identity", "DELETE", "/me/identity", identities.disconnect),
)

router = APIRouter(tags=["accounts"])
add_routes(router, OPERATIONS)


@router.post("/sign-in/identity", status_code=status.HTTP_201_CREATED)
async def sign_in_by_identity(here: Here, request: Request, wish: IdentityAnswer) -> Joined:
    """Sign in, or take an invitation, as whom the identity provider knows; needs no key.

    Makes a key, as signing in does. 401 where the provider does not confirm it, 403 for people
    who are not admitted, 429 after too many in a minute.
    """
    address = address_of(request)
    name = f"identity from {address}"  # whose it is is not known yet
    here.sign_ins.admit(name, address)
    identity = await _identity(here, wish)
    origin = origin_of(request)
    if wish.invitation:
        joined = await run_in_threadpool(
            identities.accept, here.store, identity, wish.invitation, origin
        )
    else:
        admitted = here.settings.openid_admits
        joined = await run_in_threadpool(identities.sign_in, here.store, identity, admitted, origin)
    here.sign_ins.succeeded(name, address)
    here.authenticator.forget()
    here.doors.forget()
    return joined


@router.post("/me/identity")
async def connect_identity(here: Here, asker: Asker, wish: IdentityAnswer) -> User:
    """Let the caller sign in by the identity provider from now on."""
    identity = await _identity(here, wish)
    await run_in_threadpool(identities.connect, here.store, asker, identity)
    return await run_in_threadpool(users.get_user, here.store, here.settings, asker)


async def _identity(here: Context, wish: IdentityAnswer) -> Identity:
    provider = identities.there(here.identity_provider)
    come_back = identities.come_back(here.settings, wish.site)
    return await provider.identify(come_back, wish.code, wish.nonce, wish.verifier)
