"""The page of work in a browser: who opens it before there is a question sees the first one come."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from clicking import SignIn
from service_process import EasemlProcess

pytestmark = [pytest.mark.service, pytest.mark.browser]


@pytest.fixture(scope="module")
def application(easeml: EasemlProcess, wine: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Ann's application on wines, every third without its cultivar; the path of its page."""
    header, *rows = wine.read_text().splitlines()
    for place in range(0, len(rows), 3):
        rows[place] = rows[place].rpartition(",")[0] + ","
    table = tmp_path_factory.mktemp("labelled") / "half.csv"
    table.write_text("\n".join([header, *rows]) + "\n")
    key, easeml.key = easeml.key, ""
    person = {"name": "ann", "password": "correct horse battery"}
    easeml.key = easeml.call("POST", "/api/v1/login", person)["secret"]
    wishes = ["--target", "cultivar", "--models", "naive-bayes", "--max-tasks", "2", "--yes"]
    made = easeml.command("app", "create", str(table), *wishes, "--name", "half", "--json")
    found = json.loads(made)["id"]
    easeml.wait(found, "first-model", 120)
    easeml.key = key
    return f"/applications/{found}"


def test_the_first_question_comes_to_a_page_that_waits_for_it(
    sign_in: SignIn, application: str
) -> None:
    page = sign_in()
    page.goto(f"{application}/work")
    expect(page.get_by_role("heading", name="Looking for what to ask you")).to_be_visible()
    expect(page.get_by_role("heading", name="'cultivar' of this row")).to_be_visible()
    first = page.locator("#work-form input[name=item]").input_value()
    page.keyboard.press("1")  # its keys work as on a page that had it from the beginning
    expect(page.locator("#work-form input[name=item]")).not_to_have_value(first)
    expect(page.get_by_text("1 answer not in a version yet")).to_be_visible()
