"""Takes the pictures of docs/pictures: every page of a running easeml with real tables, light and
dark.

    .venv/bin/python scripts/pictures.py

Starts an easeml of its own with two tenants, and headless Chromium, both on loopback. ``history.png``
is a picture of ``easeml demo year`` and taken by hand.
"""

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from easeml.web.views.adding import EXAMPLE

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from service_process import EasemlProcess

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
PASSWORD = "correct horse"
SIZE: ViewportSize = {"width": 1280, "height": 860}
SHORTER = {"service": 600}  # below stand folders of the machine
TABLES = {"breast_cancer": load_breast_cancer, "wine": load_wine, "diabetes": load_diabetes}
KEEPER = "keeper"
OWNERS = {"breast_cancer": "oncology", "diabetes": "oncology", "wine": "cellar"}
SHOWN = "breast_cancer"
FEWEST_TASKS = 20  # so that there is something to see


def bring_data(easeml: EasemlProcess, folder: Path) -> dict[str, str]:
    """Make tenants, their applications and an added model; return the ids that addresses of pages
    need, by name.
    """
    keys = {KEEPER: easeml.key}
    for name in (KEEPER, *dict.fromkeys(OWNERS.values())):
        easeml.call("POST", "/api/v1/users", {"name": name, "password": PASSWORD})
    easeml.command("user", "role", KEEPER, "provider")
    for name in OWNERS.values():
        keys[name] = easeml.call("POST", "/api/v1/login", {"name": name, "password": PASSWORD})[
            "secret"
        ]
    ids = {}
    for table, load in TABLES.items():
        path = folder / f"{table}.csv"
        load(as_frame=True).frame.to_csv(path, index=False)
        easeml.key = keys[OWNERS[table]]
        declared = json.loads(
            easeml.command("app", "create", str(path), "--target", "target", "--yes", "--json")
        )
        ids |= {table: declared["id"], f"{table} data": declared["dataset_id"]}
    easeml.key = keys[KEEPER]
    (folder / "module.toml").write_text(EXAMPLE)
    easeml.command("module", "add", str(folder / "module.toml"))
    easeml.key = keys[OWNERS[SHOWN]]
    easeml.command("app", "wait", ids[SHOWN], "--until", "first-model", "--timeout", "300")
    job = easeml.call("GET", f"/api/v1/applications/{ids[SHOWN]}")["job"]["id"]
    while (
        len(
            done := easeml.call("GET", f"/api/v1/tasks?state=done&kind=train&job_id={job}")["items"]
        )
        < FEWEST_TASKS
    ):
        time.sleep(1)
    return ids | {"task": done[-1]["id"]}


def pages_of(ids: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return by visitor the picture's name and the path of each page."""
    application = f"/applications/{ids[SHOWN]}"
    tenant = {
        "applications": "/applications",
        "bring": "/new",
        "new": f"/new/{ids['diabetes data']}?target=target",
        "new-models": f"/new/{ids['diabetes data']}?target=target",
        "application": application,
        "leaderboard": f"{application}/models",
        "application-tasks": f"{application}/tasks",
        "data": f"{application}/data",
        "rows": f"{application}/data/rows",
        "lineage": f"{application}/data/lineage",
        "try": f"{application}/try",
        "endpoint": f"{application}/endpoint",
        "model-card": f"{application}/model-card",
        "task": f"/tasks/{ids['task']}",
        "notifications": "/notifications",
        "account": "/account",
        "nothing-here": "/applications/app_unknown",
    }
    provider = {
        "tasks": "/tasks",
        "scheduler": "/scheduler",
        "decision": "/scheduler/steps",
        "replay": "/scheduler/replay?policy=round-robin",
        "simulator": "/scheduler/simulator",
        "knowledge": "/knowledge",
        "add-model": "/knowledge/add",
        "model-checks": "/knowledge/added/adaboost",
        "administration": "/admin",
        "service": "/admin/service",
        "audit": "/admin/audit",
    }
    return {OWNERS[SHOWN]: tenant, KEEPER: provider}


def open_settings(page: Page) -> None:
    """Show what of the first candidate models can be constrained."""
    settings = page.locator("details.settings")
    for place in range(min(2, settings.count())):
        settings.nth(place).locator("summary").click()
    # At once: the panel may be drawn anew, with what was opened, while Playwright waits for it.
    page.evaluate("document.querySelector('details.settings').scrollIntoView()")


def ask_why(page: Page) -> None:
    """Predict the row of the form, so that the columns that moved the answer are shown."""
    page.locator("#predict").click()
    page.locator("#because").wait_for()


def take(
    browser: Browser, url: str, theme: Literal["light", "dark"], pages: dict[str, dict[str, str]]
) -> None:
    """Take all pictures in one theme."""
    ending = "" if theme == "light" else f"-{theme}"
    for visitor, paths in pages.items():
        context = browser.new_context(base_url=url, viewport=SIZE, color_scheme=theme)
        page = context.new_page()
        page.goto("/sign-in")
        page.screenshot(path=FOLDER / f"sign-in{ending}.png")
        page.get_by_label("Name").fill(visitor)
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url("**/applications")
        for name, path in paths.items():
            page.goto(path)
            if name == "new-models":
                open_settings(page)
            if name == "try":
                ask_why(page)
            height = SHORTER.get(name, SIZE["height"])
            page.screenshot(
                path=FOLDER / f"{name}{ending}.png", clip={"x": 0, "y": 0, **SIZE, "height": height}
            )
        context.close()


def main() -> None:
    """Take the pictures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        easeml = EasemlProcess(Path(folder) / "home")
        easeml.start()
        try:
            pages = pages_of(bring_data(easeml, Path(folder)))
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            for theme in ("light", "dark"):
                take(browser, easeml.url, theme, pages)
            browser.close()
        finally:
            easeml.stop()


if __name__ == "__main__":
    main()
