# Made from ../_async/accounts.py by scripts/unasync.py: change that file, then run the script.
"""Signing in, API keys and users."""

from collections.abc import Iterator

from easeml.client._sync.calls import API, Calls
from easeml.client.answers import made_request, read_answer
from easeml.contract.accounts import (
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


class Accounts(Calls):
    """Who calls, and with what."""

    def login(self, name: str, password: str) -> Key:
        """Sign in and use the key from now on; its ``secret`` is in the answer.

        Raises NotSignedIn.
        """
        self._transport.key = ""
        request = made_request(LoginRequest, name=name, password=password)
        response = self._transport.request(
            "POST", f"{API}/login", repeatable=True, json=request.model_dump(mode="json")
        )
        key = read_answer(Key, response)
        self._transport.key = key.secret or ""
        return key

    def look_at_invitation(self, link: str) -> ShownInvitation:
        """Return what an invitation leads to, by its link or the secret that this ends with.

        Needs no key. Raises NotFound, Conflict.
        """
        secret = link.rpartition("/")[2]
        request = made_request(Look, secret=secret)
        return self._send(ShownInvitation, "/invitations/look", request.model_dump(mode="json"))

    def accept_invitation(self, link: str, name: str, password: str) -> Joined:
        """Take an invitation and use its key from now on; needs none before.

        Raises NotFound, Conflict, NotSignedIn, NotAllowed, InvalidInput.
        """
        self._transport.key = ""
        secret = link.rpartition("/")[2]
        request = made_request(Joining, secret=secret, name=name, password=password)
        response = self._transport.request(
            "POST",
            f"{API}/invitations/accept",
            repeatable=False,
            json=request.model_dump(mode="json"),
        )
        joined = read_answer(Joined, response)
        self._transport.key = joined.key.secret or ""
        return joined

    def logout(self) -> None:
        """End the key that this client uses, for good."""
        self._transport.request("POST", f"{API}/logout", repeatable=True)

    def api_keys(self, user_id: str | None = None) -> Iterator[Key]:
        """Give the caller's keys, or those of a user (providers only), without their secrets."""
        return self._list(Key, "/keys", user=user_id)

    def revoke_key(self, key_id: str) -> None:
        """Make a key useless from now on; a provider may end anybody's. Raises NotFound."""
        self._transport.request("DELETE", f"{API}/keys/{key_id}", repeatable=True)

    def create_user(self, name: str, password: str) -> User:
        """Make a user with a tenant of their own (providers only).

        Raises NotAllowed, InvalidInput, Conflict.
        """
        request = made_request(NewUser, name=name, password=password)
        return self._create(User, "/users", key=None, request=request)

    def change_password(self, user_id: str, new: str, *, old: str = "") -> None:
        """Change a password; ``old`` may be empty where a provider changes someone else's.

        Raises NotAllowed.
        """
        request = made_request(PasswordChange, old=old, new=new)
        self._transport.request(
            "POST",
            f"{API}/users/{user_id}/password",
            repeatable=False,
            json=request.model_dump(mode="json"),
        )

    def change_role(self, user_id: str, role: str) -> User:
        """Make a user a ``provider`` or a ``user`` (providers only). Raises NotAllowed, NotFound,
        Conflict for the last provider.
        """
        request = made_request(RoleChange, role=role)
        return self._send(User, f"/users/{user_id}/role", request.model_dump(mode="json"))

    def set_access(self, user_id: str, *, disabled: bool) -> User:
        """Shut a user out and end all their keys, or let them in again (providers only).

        Raises NotAllowed, NotFound, Conflict for oneself.
        """
        return self._send(User, f"/users/{user_id}/access", {"disabled": disabled})
