"""The pages of the scheduler, the tasks, the knowledge base and the provider, over a running
easeml.
"""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from clicking import SignIn, expect_accessible
from service_process import EasemlProcess

pytestmark = [pytest.mark.service, pytest.mark.browser]


@pytest.fixture(scope="module")
def searched(easeml: EasemlProcess, wine) -> str:
    """Bob's application with a finished search; its id."""
    provider = easeml.key
    login = {"name": "bob", "password": "correct horse battery"}
    easeml.key = easeml.call("POST", "/api/v1/login", login)["secret"]
    command = [
        "app",
        "create",
        str(wine),
        "--target",
        "cultivar",
        "--models",
        "logistic,naive-bayes",
        "--max-tasks",
        "6",
        "--yes",
    ]
    found = re.search(r"app_\w+", easeml.command(*command, "--json"))
    assert found is not None
    easeml.wait(found[0], "converged", 120)
    easeml.key = provider
    return found[0]


@pytest.fixture
def provider(sign_in: SignIn) -> SignIn:
    """Give a function that signs the provider in."""
    return lambda **options: sign_in("admin", **options)


def test_others_are_numbers_on_the_scheduler(searched: str, sign_in: SignIn, provider: SignIn):
    ann = sign_in("ann")
    for path in ("/scheduler?span=3600", "/scheduler/steps", "/scheduler/replay"):
        ann.goto(path)
        if "span" in path:  # the decision that the others show may well be ann's
            expect(ann.locator("main")).to_contain_text(re.compile(r"tenant \d"))
        text = ann.content()
        for secret in ("bob", searched):  # models and files have names that ann uses, too
            assert secret not in text, (path, secret)
    admin = provider()
    admin.goto("/scheduler?span=3600")
    expect(admin.locator("#tenants")).to_contain_text("bob")
    expect(admin.locator("#latest")).to_contain_text(re.compile("Logistic regression|Naive Bayes"))


def test_the_policy_is_changed_by_a_command(easeml: EasemlProcess, provider: SignIn):
    page = provider()
    for name in ("hybrid", "gain-per-cost"):
        assert f"policy is {name} now" in easeml.command("config", "set", "policy", name)
        page.goto("/scheduler")
        expect(page.locator("#facts")).to_contain_text(name)
    assert "database" in easeml.command("config", "show")


def test_step_by_step_and_replay(searched: str, sign_in: SignIn):
    page = sign_in("bob")
    page.goto("/scheduler/steps?number=2")
    page.evaluate("window.never_left = true")
    expect(page.get_by_role("heading", name="Decision 2")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", name="Decision 1")).to_be_visible()
    expect(page.locator("#step")).to_contain_text(
        re.compile(r"(bob \(you\)|tenant \d+) got a device")
    )
    page.get_by_role("link", name="Next →").click()
    expect(page.get_by_role("heading", name="Decision 2")).to_be_visible()
    expect(page.locator("#beliefs svg").first).to_be_visible()
    expect(page.locator("#offers svg").first).to_be_visible()
    expect(page.locator("#others")).to_contain_text("gittins")
    expect(page.locator("#others li").filter(has_text="gain-per-cost")).to_contain_text("the same")
    expect(page.locator("#processes")).to_contain_text("scheduler")
    page.get_by_label("Speed").select_option("slow")
    page.get_by_role("button", name="Play").click()
    number = page.get_by_label("Decision", exact=True)
    expect(number).not_to_have_value(re.compile("^[123]$"))  # each is shown but shortly
    page.get_by_role("button", name="Pause").click()
    number.fill("1")
    expect(page.get_by_role("heading", name="Decision 1")).to_be_visible()
    assert page.evaluate("window.never_left")
    page.goto("/scheduler/replay")
    page.get_by_label("What if the policy had been").select_option("fifo")
    expect(page.locator("#outcome")).to_contain_text("Mean loss, fifo")
    assert "policy=fifo" in page.url
    page.goto("/scheduler/simulator")
    page.get_by_label("Tenants").select_option("one tenant")
    expect(page.locator("#outcome")).to_contain_text("of 1 tenant on 1 device")


def test_what_others_do_moves_an_open_page(searched: str, easeml: EasemlProcess, provider: SignIn):
    page = provider()
    page.goto("/admin/audit")
    page.wait_for_selector("html[data-connected]")
    easeml.call("POST", "/api/v1/users", {"name": "carol", "password": "correct horse battery"})
    expect(page.locator("#audit")).to_contain_text("user.created")
    expect(page.locator("#audit")).to_contain_text("carol")


def test_labels_stay_beside_their_fields_in_a_narrow_window(sign_in: SignIn):
    page = sign_in("bob")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/scheduler/simulator")
    for label in page.locator("form .labelled").all():
        name, field = label.locator("label").bounding_box(), label.locator("select, input")
        place = field.bounding_box()
        assert name is not None
        assert place is not None
        assert name["y"] < place["y"] + place["height"]
        assert place["y"] < name["y"] + name["height"]
        assert name["x"] < place["x"]


def test_tasks_are_filtered_and_opened(searched: str, sign_in: SignIn):
    page = sign_in("bob")
    page.goto("/tasks")
    page.get_by_label("Kind").select_option("train")
    expect(page.locator("#tasks")).not_to_contain_text("ingest")
    name = re.compile(
        "^(Logistic regression|Naive Bayes)"
    )  # others' searches may have tried a model that was added meanwhile
    page.locator("#tasks tbody a").filter(has_text=name).first.click()
    expect(page.get_by_role("heading", name="Attempts")).to_be_visible()
    page.get_by_role("link", name=re.compile("^(Logistic regression|Naive Bayes)$")).click()
    expect(page.get_by_role("heading", name="What fits together")).to_be_visible()


def test_a_late_answer_does_not_undo_a_question(searched: str, sign_in: SignIn):
    page = sign_in("bob")
    held: list[Route] = []

    def hold(route: Route) -> None:  # what the page fetches when its stream opens
        if "x-live" in route.request.headers and not held:
            held.append(route)
        else:
            route.continue_()

    page.route(re.compile("/tasks$"), hold)
    with page.expect_request(lambda request: "x-live" in request.headers):
        page.goto("/tasks")
    page.get_by_label("Kind").select_option("train")
    expect(page.locator("#tasks")).not_to_contain_text("ingest")
    with page.expect_response(re.compile("kind=train")):
        held[0].continue_()
    expect(page.locator("#tasks")).not_to_contain_text("ingest")


def test_what_is_typed_survives_what_others_do(easeml: EasemlProcess, provider: SignIn):
    page = provider()
    page.goto("/admin")
    page.wait_for_selector("html[data-connected]")
    page.get_by_label("Storage, MB").fill("12")
    page.get_by_role("heading", name="Users", exact=True).click()
    easeml.call("POST", "/api/v1/users", {"name": "frank", "password": "correct horse battery"})
    expect(page.locator("#users")).to_contain_text("frank")
    expect(page.get_by_label("Storage, MB")).to_have_value("12")


def test_the_provider_adds_a_user_and_others_cannot(
    easeml: EasemlProcess, sign_in: SignIn, provider: SignIn, watch
):
    watch.allowed += ["404", "422"]
    page = provider()
    page.goto("/admin")
    page.get_by_label("Name", exact=True).fill("dave")
    page.get_by_label("Password", exact=True).fill("correct horse battery")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("#users")).to_contain_text("dave")
    # The list may be new by the event already; with the answer the form is empty.
    expect(page.get_by_label("Name", exact=True)).to_have_value("")
    page.get_by_label("Name", exact=True).fill("dave")
    page.get_by_label("Password", exact=True).fill("correct horse battery")
    page.get_by_role("button", name="Add").click()
    refusal = page.get_by_role("alert").filter(has_text="already").first
    expect(refusal).to_be_visible()
    easeml.call("POST", "/api/v1/users", {"name": "erin", "password": "correct horse battery"})
    expect(page.locator("#users")).to_contain_text("erin")
    expect(refusal).to_be_visible()  # what others do takes no answer away
    other = sign_in("dave")
    for path in ("/admin", "/admin/service", "/admin/audit"):
        answer = other.goto(path)
        assert answer is not None
        assert answer.status == 404


PAGES = [
    "/tasks",
    "/scheduler?span=3600",
    "/scheduler/steps",
    "/scheduler/replay",
    "/scheduler/simulator",
    "/knowledge",
    "/knowledge?module=logistic",
    "/admin",
    "/admin/service",
    "/admin/audit",
]


# The other theme changes colours only.
@pytest.mark.parametrize(
    ("width", "theme", "rules"), [(390, "dark", ["color-contrast"]), (1600, "light", None)]
)
def test_every_page_is_accessible(
    searched: str, provider: SignIn, width: int, theme: str, rules: list[str] | None
):
    page = provider(width=width, theme=theme)
    for path in PAGES:
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        expect_accessible(page, rules)


def test_long_names_do_not_widen_a_narrow_page(searched: str, provider: SignIn):
    page = provider(width=390)
    page.goto("/scheduler/steps")
    last = page.locator("#alone option").last
    last.evaluate("option => (option.textContent = 'what this search is called '.repeat(5))")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_chart_is_one_tab_stop_read_by_arrow_keys(searched: str, sign_in: SignIn):
    page = sign_in("bob")
    page.goto(f"/applications/{searched}")
    chart = page.locator("#quality-chart")
    expect(chart).to_be_visible()
    assert page.locator("#chart [tabindex], #chart a").count() == 1
    chart.focus()
    page.keyboard.press("ArrowRight")
    tip = page.locator(".fig-tip")
    expect(tip).to_contain_text("device time")
    expect(tip).to_contain_text("rows by 4 folds")
    first = tip.inner_text()
    page.keyboard.press("End")
    page.keyboard.press("ArrowDown")
    assert tip.inner_text() != first
    page.keyboard.press("+")
    expect(page.get_by_role("button", name="Show all")).to_be_visible()
    page.keyboard.press("0")
    expect(page.get_by_role("button", name="Show all")).to_be_hidden()
    page.keyboard.press("ArrowRight")
    told = tip.inner_text()
    draw_anew(page, "#quality-chart")
    expect(tip).to_be_visible()
    assert tip.inner_text() == told
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/tasks/task_"))


def draw_anew(page: Page, chart: str) -> None:
    """Do to a chart what the page does when an event changed it: another in its place, and focus."""
    page.evaluate(
        """(chart) => {
            const old = document.querySelector(chart);
            const next = old.cloneNode(true);
            old.replaceWith(next);
            next.focus();
            document.dispatchEvent(new Event("swapped"));
        }""",
        chart,
    )
