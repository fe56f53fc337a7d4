# Made from ../_async/identities.py by scripts/unasync.py: change that file, then run the script.
"""Signing in by the identity provider of an easeml."""

from easeml.client._sync.calls import API, Calls
from easeml.client.answers import made_request, read_answer
from easeml.contract.accounts import (
    IdentityAnswer,
    Joined,
    User,
)


class Identities(Calls):
    """Signing in by an identity provider."""

    def sign_in_by_identity(
        self, site: str, *, code: str, nonce: str, verifier: str, invitation: str = ""
    ) -> Joined:
        """End a sign-in with what the browser came back with, and use its key from now on.

        ``invitation``: the secret of one to take. Needs no key. Raises NotSignedIn, NotAllowed,
        NotReady.
        """
        self._transport.key = ""
        request = made_request(
            IdentityAnswer,
            site=site,
            code=code,
            nonce=nonce,
            verifier=verifier,
            invitation=invitation,
        )
        response = self._transport.request(
            "POST",
            f"{API}/sign-in/identity",
            repeatable=False,
            json=request.model_dump(mode="json"),
        )
        joined = read_answer(Joined, response)
        self._transport.key = joined.key.secret or ""
        return joined

    def connect_identity(self, site: str, *, code: str, nonce: str, verifier: str) -> User:
        """Let the caller sign in by the identity that a browser came back with.

        Raises Conflict where it is somebody else's, NotSignedIn, NotReady.
        """
        request = made_request(IdentityAnswer, site=site, code=code, nonce=nonce, verifier=verifier)
        return self._send(User, "/me/identity", request.model_dump(mode="json"))
