"""The page of work while the service starts anew: an answer is sent until the service has it."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route, expect

import easeml.web

pytestmark = [pytest.mark.service, pytest.mark.browser]

SCRIPT = Path(easeml.web.__file__).parent / "static" / "work.js"
ADDRESS = "http://easeml.test/work"


def asking(question: str) -> str:
    """Return a page with a question, as the service gives it."""
    return f"""<!doctype html><title>Work</title><main id="main"><section id="work">
    <form method="post" action="/work" id="work-form"><h2>{question}</h2>
    <input type="hidden" name="item" value="item_1">
    <button name="value" value="yes" data-key="1" autofocus>yes</button></form></section></main>
    <p id="connection" hidden>Connection lost.</p>
    <script type="module">{SCRIPT.read_text()}</script>"""


def test_an_answer_is_sent_until_the_service_has_it(browser: Browser):
    page = browser.new_page()
    sent: list[str | None] = []

    def serve(route: Route) -> None:
        if route.request.method == "GET":
            route.fulfill(body=asking("First?"), content_type="text/html")
            return
        sent.append(route.request.post_data)
        if len(sent) == 1:
            route.abort("connectionrefused")
        else:
            route.fulfill(body=asking("Second?"), content_type="text/html")

    page.route("http://easeml.test/**", serve)
    page.goto(ADDRESS)
    page.keyboard.press("1")
    expect(page.get_by_text("Connection lost.")).to_be_visible()
    expect(page.get_by_role("heading", name="Second?")).to_be_visible()
    expect(page.get_by_text("Connection lost.")).to_be_hidden()
    expect(page.get_by_role("button", name="yes")).to_be_focused()
    assert sent == ["item=item_1&value=yes"] * 2
    page.close()
