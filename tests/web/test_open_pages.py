"""What an event costs when many pages are open: renderings are counted, not timed."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from starlette.responses import HTMLResponse, Response

from apart import run_apart
from easeml.errors import NotSignedIn
from easeml.web.open_pages import OpenPages

Make = Callable[[], Awaitable[Response]]


def counting(shown: list[str]) -> Make:
    """Return what renders a page, and notes so in ``shown``."""

    async def make() -> Response:
        await asyncio.sleep(0)
        shown.append("page")
        return HTMLResponse(f"<p>{len(shown)}</p>")

    return make


def test_a_hundred_pages_cause_one_rendering_an_event():
    async def scenario() -> None:
        pages, shown = OpenPages(), []
        for seq in (7, 8, 12):
            answers = await asyncio.gather(
                *(pages.get("ann", seq, "", counting(shown)) for _ in range(100))
            )
            assert len({bytes(answer.body) for answer in answers}) == 1
        assert len(shown) == 3

    run_apart(scenario())


def test_pages_that_know_of_different_events_share_what_shows_the_newest():
    async def scenario() -> None:
        pages, shown = OpenPages(), []
        await asyncio.gather(*(pages.get("ann", seq, "", counting(shown)) for seq in range(100)))
        assert len(shown) == 1

    run_apart(scenario())


def test_nobody_gets_what_was_rendered_before_his_event():
    async def scenario() -> None:
        pages, shown = OpenPages(), []
        before = await pages.get("ann", 7, "", counting(shown))
        after = await pages.get("ann", 8, "", counting(shown))
        assert (before.body, after.body) == (b"<p>1</p>", b"<p>2</p>")
        assert (await pages.get("ann", 7, "", counting(shown))).body == b"<p>2</p>"

    run_apart(scenario())


def test_each_visitor_gets_his_own():
    async def scenario() -> None:
        pages, shown = OpenPages(), []
        await asyncio.gather(*(pages.get(name, 7, "", counting(shown)) for name in ("ann", "bob")))
        assert len(shown) == 2

    run_apart(scenario())


def test_what_did_not_change_is_not_sent_again():
    async def scenario() -> None:
        pages, shown = OpenPages(), []
        first = await pages.get("ann", 7, "", counting(shown))
        again = await pages.get("ann", 7, first.headers["etag"], counting(shown))
        assert (again.status_code, again.body) == (304, b"")
        assert (
            await pages.get("ann", 8, first.headers["etag"], counting(shown))
        ).status_code == 200

    run_apart(scenario())


def test_a_failure_and_a_redirection_are_nobody_elses():
    async def scenario() -> None:
        pages, shown = OpenPages(), []

        async def refuse() -> Response:
            raise NotSignedIn

        async def send_away() -> Response:
            return Response(status_code=303)

        with pytest.raises(NotSignedIn):
            await pages.get("ann", 7, "", refuse)
        assert (await pages.get("ann", 7, "", send_away)).status_code == 303
        assert (await pages.get("ann", 7, "", counting(shown))).status_code == 200

    run_apart(scenario())
