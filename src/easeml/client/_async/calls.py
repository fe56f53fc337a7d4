"""What the methods of the client are made of: read one, read a list, send, create."""

from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal, TypeVar

from pydantic import BaseModel

from easeml.client._async.transport import NOTHING, AsyncTransport, Content
from easeml.client.answers import new_idempotency_key, read_answer
from easeml.contract.resources import Page

M = TypeVar("M", bound=BaseModel)
API = "/api/v1"
_PAGE = 200


class AsyncCalls:
    """Typed requests over a transport."""

    _transport: AsyncTransport

    async def _get(self, model: type[M], path: str, **params: Any) -> M:
        """Read one thing."""
        response = await self._transport.request("GET", API + path, repeatable=True, params=params)
        return read_answer(model, response)

    async def _list(self, model: type[M], path: str, **params: Any) -> AsyncIterator[M]:
        """Read a list to its end, page by page, as it is consumed."""
        after = params.get("after")
        while True:
            page = await self._get(Page[model], path, **{**params, "after": after, "limit": _PAGE})
            for item in page.items:
                yield item
            after = page.next
            if after is None:
                return

    async def _send(
        self,
        model: type[M],
        path: str,
        body: Mapping[str, Any] | list[Any] | None = None,
        *,
        method: Literal["POST", "PUT", "DELETE"] = "POST",
        repeatable: bool = True,
    ) -> M:
        """Ask for a change; ``repeatable`` where asking twice changes no more than asking once."""
        response = await self._transport.request(
            method, API + path, repeatable=repeatable, json=body
        )
        return read_answer(model, response)

    async def _do(
        self,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        method: Literal["POST", "DELETE"] = "POST",
        repeatable: bool = True,
    ) -> None:
        """Ask for a change that is answered with nothing; ``repeatable`` as for ``_send``."""
        await self._transport.request(method, API + path, repeatable=repeatable, json=body)

    async def _create(
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
        response = await self._transport.request(
            "POST",
            API + path,
            repeatable=True,
            params=params,
            json=None if request is None else request.model_dump(mode="json"),
            content=content,
            headers=headers,
        )
        return read_answer(model, response)
