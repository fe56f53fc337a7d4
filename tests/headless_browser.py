"""The browser of tests: Chromium without a window, of the machine and not of a download."""

import shutil

from playwright.sync_api import Browser, Playwright

_PROGRAMS = (
    "chromium-headless-shell",  # the same engine without a desktop: half the processor time
    "chromium",
    "chromium-browser",
    "google-chrome",
)
_QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--js-flags=--no-opt --no-sparkplug --max-lazy",  # no page computes for long enough to be optimised
    "--disable-background-networking",
    "--disable-component-update",
]


def browser_program() -> str | None:
    """Return the path of the lightest Chromium there is; None where none is installed."""
    found = (shutil.which(name) for name in _PROGRAMS)
    return next((path for path in found if path), None)


def launch(playwright: Playwright) -> Browser:
    """Start the browser; ``browser_program`` is one."""
    return playwright.chromium.launch(executable_path=browser_program(), args=_QUIET)
