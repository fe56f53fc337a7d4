"""The pages in a browser, over a running easeml with real data, as people use them."""

import csv
import json
import pickle
import re
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, Route, expect
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from clicking import SignIn, declare, expect_accessible, upload
from described_model import DISCRIMINANT
from service_process import EasemlProcess

pytestmark = [pytest.mark.service, pytest.mark.browser]


@pytest.fixture(scope="module")
def application(easeml: EasemlProcess, wine: Path) -> str:
    """Ann's application with a finished search; the path of its page."""
    key, easeml.key = easeml.key, ""
    login = {"name": "ann", "password": "correct horse battery"}
    easeml.key = easeml.call("POST", "/api/v1/login", login)["secret"]
    models = "logistic,naive-bayes,decision-tree-classifier"
    command = [
        "app",
        "create",
        str(wine),
        "--target",
        "cultivar",
        "--models",
        models,
        "--max-tasks",
        "8",  # the pages show as much of these as of thirty
        "--yes",
        "--json",
    ]
    found = json.loads(easeml.command(*command))["id"]
    easeml.wait(found, "converged", 120)
    easeml.key = key
    return f"/applications/{found}"


def test_signing_in_and_out(easeml: EasemlProcess, browser: Browser):
    page = browser.new_page(base_url=easeml.url)
    page.goto("/new")
    page.get_by_label("Name").fill("bob")
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/new")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in")
    page.close()


def test_the_demonstration(easeml: EasemlProcess, sign_in: SignIn, wine: Path, tmp_path: Path):
    """The story of Ease.ml's demonstration (PVLDB 2018): declare, predict, and a model that comes
    later is found.
    """
    page = sign_in()
    upload(page, wine)
    expect(page.get_by_label("Target", exact=True)).to_have_value("cultivar")

    # Edit the schema, take one change back, exclude models: all of it stands in the address.
    page.get_by_label("Use of ash").select_option("leave out")
    page.get_by_label("Use of hue").select_option("leave out")
    page.get_by_role("link", name="Undo hue: left out").click()
    expect(page.get_by_label("Use of hue")).to_have_value("input")
    page.get_by_label("Naive Bayes").uncheck()
    expect(page.get_by_text("without naive-bayes")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Use of ash")).to_have_value("drop")
    expect(page.get_by_label("Naive Bayes")).not_to_be_checked()
    offered = page.locator("input[name=offered]").evaluate_all("all => all.map(one => one.value)")
    others = [name for name in offered if name not in ("baseline-classifier", "naive-bayes")]
    page.goto(page.url + "".join(f"&exclude={name}" for name in others))
    page.get_by_label("Name", exact=True).fill("cultivars")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile("/applications/app_"))
    application = page.url

    # Predict by page as soon as there is a model: the page notices by itself.
    page.get_by_role("link", name="Try it").click()
    predict = page.get_by_role("button", name="Predict", exact=True)
    expect(predict).to_be_enabled()
    predict.click()
    expect(page.locator("#predicted")).to_have_text(
        "grignolino"
    )  # all that the most frequent class can say

    # And by REST, with a key made here and the row of the page.
    page.goto("/account")
    page.get_by_label("Name", exact=True).fill("script")
    page.get_by_role("button", name="Create key").click()
    key = page.locator("#secret").text_content() or ""
    row = first_row(wine, without={"ash", "cultivar"})
    assert predicted(easeml, key, application, row) == ["grignolino"]

    # The search has converged, and the owner is told.
    page.goto(application)
    expect(page.locator("#facts")).to_contain_text("resting")
    page.get_by_role("link", name=re.compile("Notifications")).click()
    notes = page.locator("#notes li").filter(has_text="cultivars")
    expect(notes.filter(has_text="the search rests")).to_be_visible()
    page.get_by_role("button", name="Mark all as read").click()
    expect(page.locator(".count-unread")).to_have_count(0)

    # The provider adds a new model; its checks show as they run.
    description = tmp_path / "module.toml"
    description.write_text(DISCRIMINANT)
    admin = sign_in("admin")
    admin.goto("/knowledge")
    admin.get_by_role("link", name="Add a module").click()
    expect_accessible(admin)
    admin.get_by_label("A module.toml").set_input_files(description)
    admin.get_by_role("button", name="Check it").click()
    admin.wait_for_url("**/knowledge/added/discriminant")
    admin.evaluate("window.never_left = true")
    expect(admin.locator("#checks")).to_contain_text("It is in the knowledge base")
    assert admin.evaluate("window.never_left")
    expect(admin.locator("#checks .check").first).to_contain_text("passed")
    expect_accessible(admin)

    # The search resumes with it, what it finds serves, and the owner is told of both.
    page.goto(f"{application}/models")
    expect(page.locator("#models")).to_contain_text("discriminant")
    expect(page.locator(".count-unread")).to_be_visible()
    page.get_by_role("link", name=re.compile("Notifications")).click()
    expect(
        notes.filter(has_text="continues with a new model: Linear discriminant analysis").first
    ).to_be_visible()
    expect(notes.filter(has_text="serves a better model").first).to_be_visible()
    assert predicted(easeml, key, application, row) == ["barolo"]

    # A model that was left out may come in, too.
    page.goto(f"{application}/models")
    page.get_by_role("button", name="Try Naive Bayes, too").click()
    expect(page.get_by_role("button", name="Try Naive Bayes, too")).to_have_count(0)

    # Limits can be changed at any time.
    page.goto(application)
    page.get_by_label("Device time, minutes").fill("30")
    page.get_by_role("button", name="Change limits").click()
    expect(page.locator("#facts")).to_contain_text("30 min")


def test_what_may_be_tried_of_a_model_is_constrained(sign_in: SignIn, wine: Path):
    page = sign_in()
    upload(page, wine)
    expect(page.get_by_role("heading", name="Candidate models")).to_be_visible()
    offered = page.locator("input[name=offered]").evaluate_all("all => all.map(one => one.value)")
    others = "&".join(f"exclude={one}" for one in offered if one != "decision-tree-classifier")
    page.goto(f"{page.url}?{others}")
    page.locator("#settings-decision-tree-classifier summary").click()
    page.get_by_label("Most depth, decision-tree-classifier").fill("100")
    page.get_by_label("Most depth, decision-tree-classifier").press("Tab")
    expect(page.get_by_role("alert").filter(has_text="100 is not a number from")).to_be_visible()
    page.get_by_role("link", name="Undo decision-tree-classifier: depth to 100").click()
    page.locator("#settings-decision-tree-classifier summary").click()
    for bound in ("Least", "Most"):
        page.get_by_label(f"{bound} depth, decision-tree-classifier").fill("3")
        page.get_by_label(f"{bound} depth, decision-tree-classifier").press("Tab")
        expect(
            page.get_by_role(
                "link", name=re.compile("Undo .*depth " + ("from" if bound == "Least" else "to"))
            )
        ).to_be_visible()
    page.get_by_role("checkbox", name="balanced", exact=True).uncheck()
    expect(page.get_by_text("class_weight may be none")).to_be_visible()
    expect_accessible(page)
    page.get_by_label("Name", exact=True).fill("constrained")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile("/applications/app_"))
    page.goto(f"{page.url}/models")
    expect(page.locator("#constrained")).to_contain_text("depth from 3 to 3")
    expect(page.locator("#models")).to_contain_text("depth 3")


def test_costs_and_columns_to_follow_are_said_in_the_wizard(sign_in: SignIn, tmp_path: Path):
    table = tmp_path / "sizes.csv"
    rows = [f"{row * 7 % 20},{row % 7},{'large' if row > 20 else 'small'}" for row in range(40)]
    table.write_text("\n".join(["size,weight,kind", *rows]))
    page = sign_in()
    upload(page, table)
    page.get_by_label("Target").select_option("kind")
    page.get_by_label("Objective: what good means").select_option(
        label="Cost: a table with the cost of each confusion"
    )
    cell = page.get_by_label("Cost of large predicted as small")
    cell.fill("12.5")
    cell.press("Tab")
    expect(page.get_by_role("link", name=re.compile("Undo .*=12.5"))).to_be_visible()
    expect(page.get_by_label("Cost of large predicted as small")).to_have_value("12.5")
    page.locator("#followed summary").click()
    page.locator("#followed").get_by_label("size").select_option("falling")
    expect(page.get_by_role("link", name="Undo falling with size")).to_be_visible()
    expect_accessible(page)
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile("/applications/app_"))
    page.goto(f"{page.url}/settings")
    page.locator("#followed").wait_for()
    expect(page.locator("#followed").get_by_label("size")).to_have_value("falling")


def test_what_is_wrong_with_a_goal_stays_to_be_read(sign_in: SignIn, watch, wine: Path):
    """The page fetches itself as soon as it is connected, and its address is that of the form."""
    watch.allowed.append("422")
    page = sign_in()
    upload(page, wine)
    panel = page.get_by_role("region", name="Is the goal realistic?")
    panel.get_by_role("textbox", name="Goal").fill("rmse <= 30")
    panel.get_by_role("button", name="Can this be reached?").click()
    page.wait_for_load_state("networkidle")
    expect(panel.get_by_role("alert")).to_contain_text("does not fit the target")
    expect(panel.get_by_role("textbox", name="Goal")).to_have_value("rmse <= 30")


def test_whether_a_goal_can_be_reached_is_asked_before_start(sign_in: SignIn, wine: Path):
    page = sign_in()
    upload(page, wine)
    page.get_by_role("textbox", name="Goal").fill("0.8")
    page.get_by_role("button", name="Can this be reached?").click()
    panel = page.get_by_role("region", name="Is the goal realistic?")
    expect(panel.get_by_text("What this assumes")).to_be_visible(timeout=120_000)
    expect(panel).to_contain_text("Realistic.")
    expect(panel).to_contain_text(re.compile(r"between 0\.\d+ and (1|0\.\d+)"))
    expect_accessible(page)
    page.get_by_label("Name", exact=True).fill("asked before")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile("/applications/app_"))
    expect(page.locator("#reports")).to_contain_text("Realistic.")
    expect(page.locator("main")).not_to_contain_text("No goal is set")  # that one was
    page.goto(f"{page.url}/next")
    expect(page.get_by_label("Goal to reach")).to_have_value("accuracy >= 0.8")


def predicted(
    easeml: EasemlProcess, key: str, application: str, row: dict[str, float]
) -> list[str]:
    """Ask an application, as a script with ``key`` does."""
    provider, easeml.key = easeml.key, key
    answer = easeml.call(
        "POST", f"/api/v1/applications/{application.rpartition('/')[2]}/predict", {"rows": [row]}
    )
    easeml.key = provider
    return answer["predictions"]


def test_a_tasks_page_shows_where_its_model_errs(sign_in: SignIn, application: str):
    page = sign_in()
    page.goto(application)
    page.locator("#best tbody a").first.click()
    expect(page.get_by_role("heading", name="Where it makes mistakes")).to_be_visible()
    counts = page.locator(".confusion td.count").all_text_contents()
    rows = re.search(
        r"(\d+) (?:validation rows|rows by)", page.locator("#task").text_content() or ""
    )
    assert rows
    assert sum(map(int, counts)) == int(rows.group(1))
    expect(page.get_by_role("application", name="ROC curves")).to_be_visible()
    expect(page.get_by_role("application", name="Calibration")).to_be_visible()
    expect_accessible(page)


def test_what_serves_has_its_columns_weighed_and_a_model_card(sign_in: SignIn, application: str):
    page = sign_in()
    page.goto(f"{application}/models")
    with page.expect_download() as download:
        page.get_by_role("link", name="Markdown").click()
    text = Path(download.value.path()).read_text()
    assert text.startswith("# Model card: wine")
    assert "| alcohol | number | used |" in text
    with page.expect_download() as download:
        page.get_by_role("link", name="HTML").click()
    assert "<h2>What to expect</h2>" in Path(download.value.path()).read_text()
    page.get_by_role("link", name="Read or save as PDF").click()
    expect(page.get_by_role("heading", name="Model card: wine")).to_be_visible()
    expect_accessible(page)
    assert page.pdf().startswith(b"%PDF-")
    page.emulate_media(media="print")
    expect(page.get_by_role("button", name="Print, or save as PDF")).to_be_hidden()
    expect(page.get_by_role("link", name="Scheduler")).to_be_hidden()
    expect(page.get_by_role("heading", name="What to expect")).to_be_visible()
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": 390, "height": 844})
    errors = page.get_by_role("region", name="Where it makes mistakes")
    errors.locator("th").evaluate_all("all => all.forEach(one => one.append('x'.repeat(60)))")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390  # classes have long names
    page.set_viewport_size({"width": 1280, "height": 800})
    page.go_back()
    models = page.get_by_role("region", name="Models")
    models.locator("tr").filter(has_text="live").get_by_role("link").click()
    expect(page.get_by_role("heading", name="What does the model look at?")).to_be_visible()
    expect(
        page.get_by_role("region", name="Importance of columns").locator("tbody tr").first
    ).to_be_visible()


def first_row(table: Path, without: set[str]) -> dict[str, float]:
    with table.open() as file:
        row = next(csv.DictReader(file))
    return {name: float(value) for name, value in row.items() if name not in without}


def test_a_promotion_arrives_on_an_open_page(sign_in: SignIn, wine: Path):
    page = sign_in()
    declare(page, wine, "live", ["logistic", "decision-tree-classifier"])
    page.evaluate("window.never_left = true")
    expect(page.locator("#facts")).to_contain_text(re.compile("Logistic regression|Decision tree"))
    expect(page.locator("#chart .fig-legend")).to_contain_text("promoted")
    expect(page.locator("#facts")).to_contain_text("95 %")  # the honest number came, too
    assert page.evaluate("window.never_left")


def test_a_wrong_value_is_explained_beside_the_form(sign_in: SignIn, application: str):
    page = sign_in()
    page.set_viewport_size({"width": 1280, "height": 420})  # the button is below what it answers
    page.goto(f"{application}/try")
    page.get_by_role("button", name="Predict", exact=True).click()
    expect(page.locator("#predicted")).to_be_in_viewport()
    page.get_by_label("alcohol", exact=True).fill("plenty")
    page.get_by_role("button", name="Predict", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text="alcohol")).to_be_in_viewport()
    expect(page.get_by_label("alcohol", exact=True)).to_have_value("plenty")


def test_the_latest_end_of_a_search_is_set_told_and_removed(sign_in: SignIn, application: str):
    page = sign_in()
    page.goto(application)
    page.get_by_label("Ends in, hours from now").fill("2.5")
    change = page.get_by_role("button", name="Change limits")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/steer", hold, times=1)
    change.click()
    expect(change).to_have_attribute("aria-busy", "true")  # as long as it takes
    expect(change).to_be_disabled()
    held[0].continue_()
    expect(page.locator("#until")).to_contain_text("in 2 hours")
    expect(change).to_be_enabled()
    page.get_by_label("Ends in, hours from now").fill("0")
    page.get_by_role("button", name="Change limits").click()
    expect(page.locator("#until")).to_have_count(0)


def test_a_file_with_the_target_shows_how_good_the_predictions_are(
    sign_in: SignIn, application: str, wine: Path
):
    page = sign_in()
    page.goto(f"{application}/try")
    page.get_by_label("A CSV file with a header").set_input_files(wine)
    page.get_by_role("button", name="Predict the file").click()
    expect(page.locator("#answer")).to_contain_text("178 rows predicted")
    expect(page.locator("#answer")).to_contain_text("on the 178 rows that had the target")
    expect(page.locator("#answer")).to_contain_text("rows that the model was trained on")
    page.get_by_label("A CSV file with a header").set_input_files(wine)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download predictions").click()
    lines = Path(download.value.path()).read_text().splitlines()
    assert lines[0].startswith("alcohol,malic_acid,")
    assert ",cultivar,prediction,probability_" in lines[0]
    assert len(lines) == 179


def test_rolling_back_pins_and_can_be_undone(sign_in: SignIn, application: str):
    page = sign_in()
    page.goto(f"{application}/history")
    expect(page.locator("#life svg").first).to_be_visible()
    expect(page.locator("#watch")).to_contain_text("cannot tell")
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Pin the live model").click()
    expect(page.locator("#head")).to_contain_text("pinned")
    page.get_by_role("button", name="Allow better models again").click()
    expect(page.locator("#head")).not_to_contain_text("pinned")
    expect(page.get_by_role("button", name="Record requests")).to_be_hidden()  # folded
    page.locator("#needs").get_by_role("link", name="Record requests").click()
    expect(page.get_by_role("button", name="Record requests")).to_be_visible()


def test_two_tenants_never_see_each_other(sign_in: SignIn, watch, application: str):
    watch.allowed.append("404")
    ann, gil = sign_in("ann"), sign_in("gil")
    ann.goto("/applications")
    expect(ann.locator(".card").first).to_be_visible()
    gil.goto("/applications")
    expect(gil.get_by_role("heading", name="From a table to a served model")).to_be_visible()
    for part in ("", "/try", "/models", "/tasks", "/endpoint", "/data", "/history"):
        answer = gil.goto(application + part)
        assert answer is not None
        assert answer.status == 404, part
        assert "wine" not in (gil.text_content("main") or "")


def test_what_users_write_is_never_html(sign_in: SignIn, tmp_path: Path):
    evil = "<img src=x onerror=alert(1)>"
    lines = [f'"{evil}",b,target', *(f'"{evil}{i % 3}",{i},{i % 2}' for i in range(60))]
    table = tmp_path / "evil.csv"
    table.write_text("\n".join(lines))
    page = sign_in()
    declare(page, table, evil, ["decision-tree-classifier"])
    expect(page.get_by_role("heading", name=evil)).to_be_visible()
    for part in ("/try", "/data", "/endpoint"):
        page.goto(re.sub("[?#].*", "", page.url).replace("/try", "").replace("/data", "") + part)
        assert page.locator("img").count() == 0
    page.goto("/applications")
    assert page.locator("img").count() == 0


def test_a_restart_of_the_server_is_said_and_survived(
    easeml: EasemlProcess, sign_in: SignIn, watch, application: str
):
    watch.allowed += [
        "ERR_CONNECTION_REFUSED",
        "ERR_INCOMPLETE_CHUNKED_ENCODING",
        "ERR_EMPTY_RESPONSE",
        "ERR_CONNECTION",
    ]
    page = sign_in()
    page.goto(application)
    page.wait_for_selector("html[data-connected]")
    page.evaluate("window.never_left = true")
    easeml.kill("controller")
    expect(page.get_by_text("Connection lost")).to_be_visible()
    expect(page.get_by_text("Connection lost")).to_be_hidden()
    assert page.evaluate("window.never_left")
    page.reload()
    expect(page.get_by_role("heading", name="wine")).to_be_visible()


PAGES = [
    "/applications",
    "/new",
    "/scheduler",
    "/knowledge",
    "/account",
    "{}",
    "{}/try",
    "{}/models",
    "{}/tasks",
    "{}/endpoint",
    "{}/data",
    "{}/history",
    "{}/model-card",
    "{}/data/rows",
    "{}/data/lineage",
]


# The other theme changes colours only.
@pytest.mark.parametrize(
    ("widths", "theme", "rules"),
    [([1024, 1600], "light", None), ([390], "dark", ["color-contrast"])],
)
def test_every_page_fits_and_is_accessible(
    sign_in: SignIn, application: str, widths: list[int], theme: str, rules: list[str] | None
):
    page = sign_in(theme=theme)
    page.goto("/scheduler")
    step = page.locator("#latest a").first.get_attribute("href")
    assert step is not None
    for path in [*PAGES, step]:
        page.set_viewport_size({"width": widths[0], "height": 900})
        page.goto(path.format(application))
        for width in widths:
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (path, width)
        expect_accessible(page, rules)


def test_titanic_by_clicking_alone(sign_in: SignIn):
    """Who has never seen it declares titanic and gets a prediction: so many clicks, and nothing
    typed.
    """
    table = Path(__file__).parents[3] / "shared" / "data" / "titanic" / "titanic.csv"
    if not table.exists():
        pytest.skip("titanic.csv is not here")
    page, clicks = sign_in("bob"), []

    def clicked(what: str) -> None:
        clicks.append(what)

    page.expose_function("clicked", clicked)
    page.add_init_script(
        "addEventListener('click', (one) => one.isTrusted && clicked(one.target.localName), true)"
    )
    page.goto("/")
    page.get_by_role("link", name="New application").click()
    with page.expect_file_chooser() as chooser:
        page.get_by_text("Choose a file").click()
    chooser.value.set_files(table)
    expect(page.get_by_label("Target", exact=True)).to_have_value("Survived")
    page.get_by_role("button", name="Start").click()
    # What is known once the data is prepared appears on the page that is open already.
    expect(page.locator("#notes")).to_contain_text("is not used")
    page.get_by_role("link", name="Try it").click()
    page.locator("#predict:enabled").click()
    expect(page.locator("#predicted")).to_have_text(re.compile("^[01]$"))
    assert [what for what in clicks if what != "input"] == [
        "a",
        "label",
        "button",
        "a",
        "button",
    ]  # a label clicks, too
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role(
        "button", name="Stop", exact=True
    ).click()  # or it would train all models beside the next tests
    expect(page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)


def test_everything_can_be_reached_by_keyboard(sign_in: SignIn, application: str):
    page = sign_in()
    page.goto(application)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    wanted = page.locator("main a, main button:enabled, main input:not([type=hidden])").count()
    reached = set()
    for _ in range(wanted + 30):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.outerHTML"))
    assert len(reached) >= wanted


def test_models_are_measured_by_more_and_compared(
    easeml: EasemlProcess, sign_in: SignIn, application: str
):
    page = sign_in()
    page.goto(f"{application}/models")
    page.get_by_label("Measure", exact=True).select_option("noisy(0.1)")
    page.get_by_role("button", name="Measure").click()
    models = page.get_by_role("region", name="Models")
    expect(models.get_by_role("columnheader", name="noisy(0.1)")).to_be_visible()
    expect(models.locator("tbody tr").first).not_to_contain_text("–", timeout=60_000)

    page.get_by_label("Across").select_option("size")
    page.wait_for_url("**across=size**")
    front = page.get_by_role("region", name="Best trade-offs")
    expect(front.get_by_role("columnheader", name="Size")).to_be_visible()
    expect(front.locator("tbody tr").first).to_contain_text("bytes")
    expect_accessible(page)

    page.goto(f"{application}/settings")
    page.get_by_label("Largest latency for a row, ms").fill("5000")
    page.get_by_role("button", name="Save rules").click()
    expect(page.locator("#rules")).to_contain_text("obey the rules")
    expect_accessible(page)
    page.close()


def test_a_model_is_brought(sign_in: SignIn, application: str, wine: Path, tmp_path: Path):
    from skops.io import dump  # takes a second, which other tests need not wait for

    rows = pd.read_csv(wine)
    inputs = rows.drop(columns="cultivar")
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(inputs, rows["cultivar"])
    (tmp_path / "mine.pkl").write_bytes(pickle.dumps(fitted)[:1000])
    dump(fitted, tmp_path / "mine.skops")
    page = sign_in()
    bring(page, application, tmp_path / "mine.pkl")
    page.wait_for_url(re.compile("/tasks/task_"))
    said = page.get_by_role("main")
    expect(said).to_contain_text("The pickle cannot be read")
    expect(said).not_to_contain_text("controller-")  # the folder that the form's file lay in

    bring(page, application, tmp_path / "mine.skops")
    page.wait_for_url(re.compile("/tasks/task_"))
    expect(page.get_by_text("Where it makes mistakes")).to_be_visible()
    page.goto(f"{application}/models")
    expect(page.get_by_role("region", name="Models")).to_contain_text("mine")
    page.goto(application)
    expect(page.get_by_role("main")).to_contain_text("mine")
    page.close()


def test_a_search_is_brought(sign_in: SignIn, application: str, tmp_path: Path):
    (tmp_path / "log.csv").write_text("C,score\n0.01,0.7\n1.0,0.9\n")
    page = sign_in()
    page.goto(f"{application}/models")
    form = page.locator("#learn")
    form.get_by_label("File").set_input_files(tmp_path / "log.csv")
    form.get_by_label("Model").fill("logistic")
    form.get_by_role("button", name="Learn").click()
    page.wait_for_url(re.compile("/tasks/task_"))
    expect(page.get_by_role("main")).to_contain_text("2 trials taken")
    expect_accessible(page)
    page.close()


def bring(page: Page, application: str, file: Path) -> None:
    """Send a file of a model by the form of an application."""
    page.goto(f"{application}/models")
    form = page.locator("#bring")
    form.get_by_label("File").set_input_files(file)
    form.get_by_role("button", name="Import").click()
