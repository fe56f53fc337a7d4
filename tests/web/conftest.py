"""A real easeml with two tenants, and a browser whose pages may log no error and ask no other host."""

import re
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    expect,
    sync_playwright,
)

from clicking import SignIn
from headless_browser import browser_program, launch
from service_process import EasemlProcess
from warm_service import WarmService

PASSWORD = "correct horse battery"
expect.set_options(timeout=60_000)


@pytest.fixture(scope="package")
def easeml(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EasemlProcess]:
    """One running easeml for all tests here, with the users ann, bob, eve and gil."""
    service = WarmService(tmp_path_factory.mktemp("web") / "home")
    service.start()
    for name in ("ann", "bob", "eve", "gil"):
        service.call("POST", "/api/v1/users", {"name": name, "password": PASSWORD})
    yield service
    service.stop()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    if browser_program() is None:
        pytest.skip("Chromium is not installed.")
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


def first_password(easeml: EasemlProcess) -> str:
    """Return the provider's password, which the first start printed."""
    found = re.search(r"password: (\S+)", "".join(easeml.output))
    assert found
    return found.group(1)


@dataclass
class Watch:
    """What a browser did that it should not have.

    ``allowed``: pieces of messages that a test provokes itself.
    """

    host: str
    faults: list[str]
    allowed: list[str]

    def follow(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.faults.append(f"{page.url}: {error}"))
        page.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        expected = any(piece in message.text for piece in self.allowed)
        if message.type in ("error", "warning") and not expected:
            self.faults.append(f"{message.location}: {message.text}")

    def _request(self, request: Request) -> None:
        address = urllib.parse.urlsplit(request.url)
        if address.scheme != "blob" and address.netloc != self.host:
            self.faults.append(f"asked {request.url}")


@pytest.fixture
def watch(easeml: EasemlProcess) -> Iterator[Watch]:
    watch = Watch(urllib.parse.urlsplit(easeml.url).netloc, [], [])
    yield watch
    assert not watch.faults


@pytest.fixture(scope="package")
def cookies(easeml: EasemlProcess) -> Callable[[str], dict[str, str]]:
    """Give a function that returns the session cookie of a user; hashing passwords is slow on
    purpose.
    """

    @cache
    def cookies(name: str) -> dict[str, str]:
        with httpx.Client(base_url=easeml.url, trust_env=False) as client:
            password = first_password(easeml) if name == "admin" else PASSWORD
            client.post("/sign-in", data={"name": name, "password": password})
            return dict(client.cookies)

    return cookies


@pytest.fixture(scope="package")
def keys(easeml: EasemlProcess) -> Callable[[str], str]:
    """Give a function that returns a key of a user."""

    @cache
    def keys(name: str) -> str:
        password = first_password(easeml) if name == "admin" else PASSWORD
        return easeml.call("POST", "/api/v1/login", {"name": name, "password": password})["secret"]

    return keys


@pytest.fixture
def sign_in(
    easeml: EasemlProcess, browser: Browser, watch: Watch, cookies: Callable, keys: Callable
) -> Iterator[SignIn]:
    """Give a function that opens a browser of its own for a person who is signed in, and returns
    its page. What these people leave searching takes no processor from the next test.
    """
    contexts: list[BrowserContext] = []
    names: set[str] = set()

    def sign_in(name: str = "ann", width: int = 1280, theme: str = "light") -> Page:
        context = browser.new_context(
            base_url=easeml.url,
            viewport={"width": width, "height": 900},
            color_scheme=theme,  # type: ignore[arg-type]
            reduced_motion="reduce",  # every frame is drawn by the processor
        )
        context.set_default_timeout(60_000)
        contexts.append(context)
        names.add(name)
        context.add_cookies(
            [{"name": k, "value": v, "url": easeml.url} for k, v in cookies(name).items()]
        )
        page = context.new_page()
        watch.follow(page)
        return page

    yield sign_in
    for context in contexts:
        context.close()
    of_provider = easeml.key
    for name in names:
        easeml.key = keys(name)
        easeml.stop_searches(resting=False)
    easeml.key = of_provider


@pytest.fixture(scope="session")
def wine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table: 178 wines, 13 numbers, the cultivar."""
    from sklearn.datasets import load_wine

    frame = load_wine(as_frame=True).frame
    frame["target"] = frame["target"].map({0: "barolo", 1: "grignolino", 2: "barbera"})
    path = tmp_path_factory.mktemp("tables") / "wine.csv"
    frame.rename(columns={"target": "cultivar"}).to_csv(path, index=False)
    return path
