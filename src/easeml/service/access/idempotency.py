"""Creation at most once: the same key with the same request gives the first answer again."""

import hashlib
import json

from pydantic import BaseModel

from easeml.errors import Conflict, InvalidInput
from easeml.service.access.caller import Caller
from easeml.store import Transaction
from easeml.store.records import IdempotencyKey, Json

_LONGEST_KEY = 200


class Once:
    """One creation under an idempotency key; ``key`` None means that the caller did not ask for it."""

    def __init__(self, caller: Caller, route: str, key: str | None, request: BaseModel | Json):
        """``route`` names the kind of creation; ``request`` is what was asked."""
        self._tenant = caller.tenant_id
        self._digest = _digest(request)
        self._id: str | None = None
        if key is not None:
            _check_length(key)
            self._id = f"{caller.tenant_id}:{route}:{key}"

    def earlier(self, tx: Transaction) -> Json | None:
        """Return the answer given to this key before, if any.

        Raises ``Conflict`` when the key was used for another request.
        """
        if self._id is None:
            return None
        found = tx.scoped(self._tenant).idempotency.find(id=self._id)
        if found is None:
            return None
        if found.request_digest != self._digest:
            raise Conflict(
                "This idempotency key was used for another request.",
                remedy="Send a new key with a new request.",
                where="Idempotency-Key",
            )
        return found.response

    def remember(self, tx: Transaction, response: Json) -> None:
        """Keep ``response`` for the next request with this key, in the transaction that creates."""
        if self._id:
            record = IdempotencyKey(self._id, self._tenant, self._digest, response)
            tx.scoped(self._tenant).idempotency.add(record)


def _check_length(key: str) -> None:
    if not 1 <= len(key) <= _LONGEST_KEY:
        raise InvalidInput(
            f"An idempotency key has 1 to {_LONGEST_KEY} characters, not {len(key)}.",
            where="Idempotency-Key",
        )


def _digest(request: BaseModel | Json) -> str:
    """Return a digest that equal requests have in common."""
    if isinstance(request, BaseModel):
        request = request.model_dump(mode="json")
    canonical = json.dumps(request, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
