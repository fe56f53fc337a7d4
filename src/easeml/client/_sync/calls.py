# Made from ../_async/calls.py by scripts/unasync.py: change that file, then run the script.
"""What the methods of the client are made of: read one, read a list, send, create."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeVar

from pydantic import BaseModel

from easeml.client._sync.transport import NOTHING, Content, Transport
from easeml.client.answers import new_idempotency_key, read_answer
from easeml.contract.resources import Page

M = TypeVar("M", bound=BaseModel)
API = "/api/v1"
_PAGE = 200


class Calls:
    """Typed requests over a transport."""

    _transport: Transport

    def _get(self, model: type[M], path: str, **params: Any) -> M:
        """Read one thing."""
        response = self._transport.request("GET", API + path, repeatable=True, params=params)
        return read_answer(model, response)

    def _list(self, model: type[M], path: str, **params: Any) -> Iterator[M]:
        """Read a list to its end, page by page, as it is consumed."""
        after = params.get("after")
        while True:
            page = self._get(Page[model], path, **{**params, "after": after, "limit": _PAGE})
            yield from page.items
            after = page.next
            if after is None:
                return

    def _send(
        self,
        model: type[M],
        path: str,
        body: Mapping[str, Any] | list[Any] | None = None,
        *,
        method: Literal["POST", "PUT", "DELETE"] = "POST",
        repeatable: bool = True,
    ) -> M:
        """Ask for a change; ``repeatable`` where asking twice changes no more than asking once."""
        response = self._transport.request(method, API + path, repeatable=repeatable, json=body)
        return read_answer(model, response)

    def _do(
        self,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        method: Literal["POST", "DELETE"] = "POST",
        repeatable: bool = True,
    ) -> None:
        """Ask for a change that is answered with nothing; ``repeatable`` as for ``_send``."""
        self._transport.request(method, API + path, repeatable=repeatable, json=body)

    def _create(
        self,
        model: type[M],
        path: str,
        *,
        key: str | None,
        request: BaseModel | None = None,
        content: Content | None = None,
        params: Mapping[str, Any] = NOTHING,
        content_type: str | None = None,
    ) -> M:
        """Make a thing, once, however often it has to be sent."""
        headers = {"idempotency-key": key or new_idempotency_key()}
        if content_type:
            headers["content-type"] = content_type
        response = self._transport.request(
            "POST",
            API + path,
            repeatable=True,
            params=params,
            json=None if request is None else request.model_dump(mode="json"),
            content=content,
            headers=headers,
        )
        return read_answer(model, response)
