"""Truths that come after a look: told, and looked at, by the page of a running easeml."""

import random
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from easeml.client import Client
from easeml.contract.applications import Declaration
from easeml.contract.production import NewRequestLog
from easeml.contract.watching import WatchReport
from service_process import LOOK_EVERY, EasemlProcess

PATIENCE = 120.0
PASSWORD = "correct horse battery"
ROWS = 300
ONE_TREE = {"decision-tree-classifier": {"depth": 8, "leaf_rows": 1, "class_weight": "none"}}


def new_row(draws: random.Random) -> dict[str, float]:
    return {"a": round(draws.random(), 4), "b": round(draws.random(), 4)}


def truth(row: dict[str, float]) -> str:
    return "yes" if row["a"] + 0.2 * row["b"] > 0.6 else "no"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table whose target follows from two columns: a tree is nearly always right."""
    draws = random.Random(0)
    rows = [new_row(draws) for _ in range(800)]
    lines = [f"{row['a']},{row['b']},{truth(row)}" for row in rows]
    path = tmp_path_factory.mktemp("table") / "table.csv"
    path.write_text("\n".join(["a,b,answer", *lines]))
    return path


@pytest.fixture
def wilma(easeml: EasemlProcess) -> Iterator[Client]:
    """A user of her own."""
    key, easeml.key = easeml.key, easeml.key
    easeml.call("POST", "/api/v1/users", {"name": "wilma", "password": PASSWORD})
    login = {"name": "wilma", "password": PASSWORD}
    easeml.key = easeml.call("POST", "/api/v1/login", login)["secret"]
    with Client(easeml.url, easeml.key) as client:
        yield client
    easeml.stop_searches()
    easeml.key = key


@pytest.fixture
def browser(easeml: EasemlProcess, wilma: Client) -> Iterator[httpx.Client]:
    """Somebody who is signed in, and follows where forms lead."""
    with httpx.Client(
        base_url=easeml.url, trust_env=False, follow_redirects=True, timeout=PATIENCE
    ) as browser:
        browser.post("/sign-in", data={"name": "wilma", "password": PASSWORD}).raise_for_status()
        yield browser


def once(client: Client, application_id: str, is_so: Callable[[WatchReport], bool]) -> WatchReport:
    """Wait until a watch report is so."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        report = client.watch_report(application_id)
        if is_so(report):
            return report
        time.sleep(LOOK_EVERY)
    raise AssertionError(f"not in time: {client.watch_report(application_id)}")


def press(browser: httpx.Client, page: str, button: str, **sent) -> httpx.Response:
    """Send the form of a page that has a button of this name, with what it holds."""
    shown = browser.get(page).text
    forms = re.findall(r"<form[^>]*>.*?</form>", shown, re.DOTALL)
    (form,) = [form for form in forms if f">{button}</button>" in form]
    action = re.search(r'action="([^"]+)"', form)
    assert action
    hidden = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form))
    answer = browser.post(action.group(1), data={**hidden, **sent.pop("data", {})}, **sent)
    answer.raise_for_status()
    return answer


def test_late_truths_are_told_and_looked_at_by_the_page(
    easeml: EasemlProcess, wilma: Client, browser: httpx.Client, table: Path
):
    dataset = wilma.upload(table)
    wilma.wait_version_ready(dataset.version.id)
    wish = Declaration(
        dataset_id=dataset.id,
        target="answer",
        models=list(ONE_TREE),
        constrain=ONE_TREE,
        max_tasks=1,
    )
    application_id = wilma.create_application(wish).id
    wilma.wait(application_id, until="converged", timeout=PATIENCE)
    wilma.set_request_log(application_id, NewRequestLog(share=1.0))
    draws = random.Random(1)
    rows = [new_row(draws) for _ in range(ROWS)]
    request_id = wilma.predict(application_id, rows).request_id
    once(wilma, application_id, lambda report: report.waiting == ROWS)
    page = f"/applications/{application_id}/history"
    press(browser, page, f"Look at {ROWS} new rows")
    once(wilma, application_id, lambda report: report.rows == ROWS)
    assert "late truth" not in browser.get(page).text

    other = {"yes": "no", "no": "yes"}
    lines = ["request_id,row,value"]
    for place in draws.sample(range(ROWS), 100):
        true = truth(rows[place])
        lines.append(f"{request_id},{place},{other[true] if place % 2 else true}")
    file = {"file": ("truths.csv", "\n".join(lines).encode(), "text/csv")}
    told = press(browser, page, "Report", data={"at_random": "yes"}, files=file)
    assert "100 truths kept; 100 of them name rows" in told.text
    assert "100 of them are said to be of rows that were drawn at random" in told.text

    press(browser, page, "Look at 100 late truths")
    found = once(wilma, application_id, lambda report: bool(report.claims))
    assert found.tests["concept"].alarm
    assert (found.status, found.rows) == ("alert", ROWS)
    shown = browser.get(page).text
    assert "The model got worse" in shown
    assert "100 rows drawn at random, according to wilma, 20" in shown
    assert "late truth</button>" not in shown
