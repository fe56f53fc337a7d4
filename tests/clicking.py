"""What people do on the pages, in a browser."""

import re
from collections.abc import Callable
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

SignIn = Callable[..., Page]


def upload(page: Page, path: Path) -> None:
    """Bring a file and come to what easeml saw of it."""
    page.goto("/new")
    page.get_by_label("Choose a file").set_input_files(path)
    page.wait_for_url(re.compile("/new/data_"))


def declare(page: Page, path: Path, name: str, models: list[str]) -> str:
    """Declare an application that tries some models only; return the path of its page."""
    upload(page, path)
    expect(page.get_by_role("heading", name="Candidate models")).to_be_visible()
    offered = page.locator("input[name=offered]").evaluate_all("all => all.map(one => one.value)")
    page.goto(page.url + "?" + "&".join(f"exclude={one}" for one in offered if one not in models))
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile("/applications/app_"))
    return page.url


def expect_accessible(page: Page, rules: list[str] | None = None) -> None:
    options: dict[str, list[str]] = {
        "resultTypes": ["violations"]
    }  # all else is long to bring over
    if rules:
        options["runOnly"] = rules
    found = Axe().run(page, options=options)
    assert found.violations_count == 0, f"{page.url}\n{found.generate_report()}"
