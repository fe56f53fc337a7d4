"""Signing in, by a password or an invitation."""

from easeml.client._async.calls import API, AsyncCalls
from easeml.client.answers import made_request, read_answer
from easeml.contract.accounts import Joined, Joining, Key, LoginRequest, Look, ShownInvitation


class AsyncAccounts(AsyncCalls):
    """Signing in, and invitations."""

    async def login(self, name: str, password: str) -> Key:
        """Sign in and use the key from now on; its ``secret`` is in the answer.

        Raises NotSignedIn.
        """
        self._transport.key = ""
        request = made_request(LoginRequest, name=name, password=password)
        response = await self._transport.request(
            "POST", f"{API}/login", repeatable=True, json=request.model_dump(mode="json")
        )
        key = read_answer(Key, response)
        self._transport.key = key.secret or ""
        return key

    async def look_at_invitation(self, link: str) -> ShownInvitation:
        """Return what an invitation leads to, by its link or the secret that this ends with.

        Needs no key. Raises NotFound, Conflict.
        """
        secret = link.rpartition("/")[2]
        request = made_request(Look, secret=secret)
        return await self._send(
            ShownInvitation, "/invitations/look", request.model_dump(mode="json")
        )

    async def accept_invitation(self, link: str, name: str, password: str) -> Joined:
        """Take an invitation and use its key from now on; needs none before.

        Raises NotFound, Conflict, NotSignedIn, NotAllowed, InvalidInput.
        """
        self._transport.key = ""
        secret = link.rpartition("/")[2]
        request = made_request(Joining, secret=secret, name=name, password=password)
        response = await self._transport.request(
            "POST",
            f"{API}/invitations/accept",
            repeatable=False,
            json=request.model_dump(mode="json"),
        )
        joined = read_answer(Joined, response)
        self._transport.key = joined.key.secret or ""
        return joined
