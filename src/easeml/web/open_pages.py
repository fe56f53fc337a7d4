"""Open pages that follow events: what one of them fetched serves all that know no newer event.

A hundred tabs on one application would else render it a hundred times for each event. Here a page
is rendered at most once for an event and visitor, one rendering at a time and a few a second,
however many ask: a busy server lags a little and gathers no queue.
"""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field

from starlette.responses import Response

LIVE_HEADER = "x-live"  # number of the newest event that the page knows of
_PAUSE = 0.25  # seconds between two renderings of a page
_RESTING_SHARE = (
    2  # a rendering that took t is followed by none of that page for 2 t: a busy server rests
)
_KEPT = 1.0  # seconds that a rendering is given to others: a revoked key ends as soon elsewhere
_MOST_PAGES = 512


@dataclass
class _Page:
    """A page of a visitor.

    ``wanted``: the newest event that the asking page knows; ``seq``: the newest that it shows.
    """

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    wanted: int = 0
    seq: int = -1
    made: float = 0.0
    took: float = 0.0
    body: bytes = b""
    media_type: str | None = None
    etag: str = ""

    def is_fresh(self, seq: int) -> bool:
        return self.seq >= seq and time.monotonic() - self.made < _KEPT

    def keep(self, seq: int, answer: Response, began: float) -> None:
        self.seq, self.made, self.body, self.media_type = (
            seq,
            time.monotonic(),
            bytes(answer.body),
            answer.media_type,
        )
        self.took = self.made - began
        self.etag = f'"{hashlib.sha256(self.body).hexdigest()[:24]}"'

    def answer(self, known: str) -> Response:
        """Return the page, or that it is still what the visitor knows."""
        headers = {"etag": self.etag}
        if known == self.etag:
            return Response(status_code=304, headers=headers)
        return Response(self.body, headers=headers, media_type=self.media_type)


class OpenPages:
    """What the open pages were given last."""

    def __init__(self) -> None:
        self._pages: dict[Hashable, _Page] = {}

    async def get(
        self, name: Hashable, seq: int, known: str, make: Callable[[], Awaitable[Response]]
    ) -> Response:
        """Return the page ``name`` as it was after event ``seq`` or later; ``make`` renders it if needed.

        ``known``: the entity tag of what the visitor has, which is not sent again. What ``make``
        returns is shared only if it is a page (status 200). Raises what ``make`` raises.
        """
        page = self._page(name)
        page.wanted = max(page.wanted, seq)
        async with page.lock:
            if not page.is_fresh(seq):
                await asyncio.sleep(
                    page.made + max(_PAUSE, _RESTING_SHARE * page.took) - time.monotonic()
                )
                shown, began = page.wanted, time.monotonic()  # of all who wait by now
                answer = await make()
                if answer.status_code != 200:
                    return answer
                page.keep(shown, answer, began)
        return page.answer(known)

    def _page(self, name: Hashable) -> _Page:
        page = self._pages.get(name)
        if page is None:
            if len(self._pages) >= _MOST_PAGES:
                self._pages = {
                    name: page for name, page in self._pages.items() if page.lock.locked()
                }
            page = self._pages[name] = _Page()
        return page
