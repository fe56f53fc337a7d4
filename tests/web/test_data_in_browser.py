"""The data of an application in a browser: rows added, a file refused, noisy rows switched off and
on again.
"""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from clicking import SignIn, expect_accessible
from service_process import EasemlProcess

pytestmark = [pytest.mark.service, pytest.mark.browser]


@pytest.fixture(scope="module")
def tables(wine: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wines in two parts, of each cultivar in both; and a part that does not fit."""
    header, *rows = wine.read_text().splitlines()
    folder = tmp_path_factory.mktemp("parts")
    parts = {"first": [header, *rows[::2]], "more": [header, *rows[1::2]]}
    wrong = [header.replace("hue", "hüe"), *rows[1:9:2], rows[1].replace("barolo", "chianti")]
    for name, lines in {**parts, "wrong": wrong}.items():
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return {name: folder / f"{name}.csv" for name in ("first", "more", "wrong")}


@pytest.fixture(scope="module")
def application(easeml: EasemlProcess, tables: dict[str, Path]) -> str:
    """Ann's application on the first part, with a model; the path of its page."""
    key, easeml.key = easeml.key, ""
    easeml.key = easeml.call(
        "POST", "/api/v1/login", {"name": "ann", "password": "correct horse battery"}
    )["secret"]
    command = [
        "app",
        "create",
        str(tables["first"]),
        "--target",
        "cultivar",
        "--models",
        "naive-bayes",
        "--max-tasks",
    ]
    found = json.loads(easeml.command(*command, "2", "--name", "growing", "--yes", "--json"))["id"]
    easeml.wait(found, "first-model", 120)
    easeml.key = key
    return f"/applications/{found}"


def versions(page: Page) -> str:
    return page.locator("#versions").text_content() or ""


def test_rows_are_added_refused_switched_off_and_on(
    sign_in: SignIn, application: str, tables: dict[str, Path]
):
    page = sign_in()
    page.goto(f"{application}/data")
    expect(page.get_by_role("heading", name="Version 2")).to_be_visible()

    # A file that does not fit: every difference is shown, and nothing changes.
    page.get_by_label("Choose a file").set_input_files(tables["wrong"])
    refused = page.get_by_role("alert").filter(has_text="nothing was changed")
    expect(refused).to_contain_text("column 'hüe' is not one of the data")
    expect(refused).to_contain_text("'chianti' is not one of its classes")
    expect(page.get_by_role("heading", name="Version 2")).to_be_visible()

    # One that fits: the open page notices the new version by itself.
    page.get_by_label("Choose a file").set_input_files(tables["more"])
    expect(page.get_by_role("heading", name="Version 4")).to_be_visible()
    assert "more.csv added" in " ".join(versions(page).split())

    # Noisy rows: looked for, switched off, and on again by Undo.
    page.get_by_role("link", name="Look at the training rows").click()
    page.get_by_role("button", name="Look for suspicious rows").click()
    expect(page.get_by_role("columnheader", name="Suspicion")).to_be_visible()
    first = page.locator("input[name=row][type=checkbox]").first
    row = first.get_attribute("value")
    first.check()
    page.get_by_role("button", name="Switch off").click()
    expect(page.locator("#undo")).to_contain_text(
        "1 row switched off: the search starts again on version 5"
    )
    expect(page.locator("#rows")).to_contain_text("1 off in all")
    page.get_by_label("State").select_option("off only")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.get_by_label(f"Row {row}")).to_be_visible()
    page.go_back()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#rows")).to_contain_text("0 off in all")

    # By class; and what is downloaded.
    page.get_by_label("cultivar", exact=True).select_option("barolo")
    expect(page.locator("tbody tr").first).to_contain_text("barolo")
    page.goto(f"{application}/data")
    with page.expect_download() as download:
        page.get_by_role("link", name="Version 4 as CSV").click()
    assert len(Path(download.value.path()).read_text().splitlines()) == 179

    # How the versions came about: a picture to walk through.
    page.get_by_role("link", name="How they came about").click()
    page.locator("#lineage").get_by_role("link", name="Version 4").click()
    expect(page.locator("#chosen")).to_contain_text("more.csv added")
    expect(page.locator("#chosen")).to_contain_text("Compared with the version it was made from")
    page.goto(f"{application}/data")

    # Another table in place of all rows, behind the same address.
    page.get_by_label("The rows of the file").select_option("replace all rows")
    page.get_by_label("Choose a file").set_input_files(tables["first"])
    expect(page.get_by_role("heading", name="Version 7")).to_be_visible()
    assert "first.csv took the place of all rows" in " ".join(versions(page).split())


# The other theme changes colours only.
@pytest.mark.parametrize(
    ("width", "theme", "rules"), [(1280, "light", None), (390, "dark", ["color-contrast"])]
)
def test_the_rows_page_is_accessible_and_fits(
    sign_in: SignIn, application: str, width: int, theme: str, rules: list[str] | None
):
    page = sign_in(width=width, theme=theme)
    for part in ("/data", "/data/rows"):
        page.goto(application + part)
        expect_accessible(page, rules)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
