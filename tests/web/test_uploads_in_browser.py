"""Bringing files in a browser: bad ones, large ones, and a connection that is lost."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from clicking import SignIn, expect_accessible, upload
from service_process import EasemlProcess

pytestmark = [pytest.mark.service, pytest.mark.browser]


def test_a_bad_file_says_why(sign_in: SignIn, tmp_path: Path):
    rubbish = tmp_path / "photo.csv"
    rubbish.write_bytes(bytes(range(256)) * 50)
    page = sign_in()
    upload(page, rubbish)
    expect(page.get_by_role("alert")).to_contain_text("photo.csv")
    expect(page.get_by_role("link", name="Upload a corrected file")).to_be_visible()


def test_an_empty_file_is_refused_where_it_is_dropped(sign_in: SignIn, watch, tmp_path: Path):
    watch.allowed.append("422")
    (tmp_path / "empty.csv").write_bytes(b"")
    page = sign_in()
    page.goto("/new")
    page.get_by_label("Choose a file").set_input_files(tmp_path / "empty.csv")
    expect(page.get_by_role("alert").filter(has_text="The file is empty")).to_be_visible()


def test_an_upload_can_be_called_off(sign_in: SignIn, tmp_path: Path):
    large = tmp_path / "large.csv"
    large.write_bytes(b"a,b\n" + b"1,2\n" * 20_000_000)
    page = sign_in()
    page.goto("/new")
    page.get_by_label("Choose a file").set_input_files(large)
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#progress")).to_be_hidden()
    assert page.url.endswith("/new")


def test_an_upload_goes_on_after_the_connection_was_lost(
    easeml: EasemlProcess, sign_in: SignIn, watch, tmp_path: Path
):
    """The controller dies in the middle, then the network is away; the file is sent once, and whole.

    Chromium asks the next controller again for a piece of which the first had taken a part (409).
    """
    watch.allowed += [
        "409 (Conflict)",
        "ERR_CONNECTION",
        "ERR_INTERNET_DISCONNECTED",
        "ERR_EMPTY_RESPONSE",
        "ERR_SOCKET",
        "ERR_INCOMPLETE_CHUNKED_ENCODING",
    ]
    large, rows = tmp_path / "large.csv", 70_000
    large.write_text("a,text,b\n" + "".join(f"{i},{'word ' * 16},{i % 7}\n" for i in range(rows)))
    page, offsets = sign_in(), []
    page.on(
        "request",
        lambda one: (
            offsets.append(int(one.headers["upload-offset"])) if one.method == "PATCH" else None
        ),
    )
    network = page.context.new_cdp_session(page)
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 1_000_000}
    page.goto("/new")
    network.send("Network.emulateNetworkConditions", slow)
    page.get_by_label("Choose a file").set_input_files(large)
    expect(page.locator("#progress-text")).to_contain_text(re.compile(r" [1-9]\.\d MB of"))
    easeml.kill("controller")
    expect(page.locator("#progress-text")).to_contain_text(re.compile(r" 5\.\d MB of"))
    network.send("Network.emulateNetworkConditions", {**slow, "offline": True})
    expect(page.locator("#progress-text")).to_contain_text("the connection is lost")
    network.send("Network.emulateNetworkConditions", {**slow, "uploadThroughput": -1})
    page.wait_for_url(re.compile("/new/data_"))
    assert offsets == sorted(offsets)
    assert offsets[-1] > 0
    expect(page.get_by_text(f"{rows:,} rows")).to_be_visible()


def test_columns_that_may_know_the_answer_are_named_and_left_out(sign_in: SignIn, tmp_path: Path):
    """The net price and its tax are told before Start, whatever target is chosen."""
    path = tmp_path / "sales.csv"
    lines = [f"{(37 * n) % 101}.5,{n % 7},{((37 * n) % 101 + 0.5) * 0.05:.4f}" for n in range(200)]
    path.write_text("\n".join(["net,shop,tax", *lines]))
    page = sign_in()
    upload(page, path)
    page.get_by_label("Target", exact=True).select_option("tax")
    told = page.get_by_role("group", name="Suspected leaks")
    expect(told).to_contain_text("1 column may know the answer.")
    expect(told).to_contain_text("net: alone it explains the target all but fully")
    expect_accessible(page)
    told.get_by_role("link", name="Leave out net").click()
    expect(page.get_by_label("Use of net")).to_have_value("drop")
    expect(told).to_have_count(0)
    page.get_by_label("Target", exact=True).select_option("shop")
    expect(told).to_have_count(0)


def test_rows_of_one_country_are_told_and_split_by_group(sign_in: SignIn, tmp_path: Path):
    """Each country has its own height of the target: the page says so before Start."""
    lines = [f"{'abcdefghijklmnopqrst'[n % 20]}land,{n % 7},{n % 20}.{n % 3}" for n in range(200)]
    path = tmp_path / "lives.csv"
    path.write_text("\n".join(["country,x,target", *lines]))
    page = sign_in()
    upload(page, path)
    note = page.get_by_text("Rows of the same 'country' are alike: two of them differ in 'target'")
    note.get_by_role("link", name="Test rows").click()
    choice = page.get_by_label("Test rows")
    choice.select_option("rows of other country than those trained with")
    expect(page.get_by_text("split: group:country")).to_be_visible()
    expect(note).to_have_count(0)


def test_rows_that_test_are_chosen_by_time_and_by_group(sign_in: SignIn, tmp_path: Path):
    """The page advises a split by time: there it is chosen, told, and taken back."""
    path = tmp_path / "visits.csv"
    lines = []
    for n in range(60):
        lines.append(f"2024-{1 + n // 28:02}-{1 + n % 28:02},u{n % 12},{n % 7}.5,{'yn'[n % 2]}")
    path.write_text("\n".join(["day,user,amount,target", *lines]))
    page = sign_in()
    upload(page, path)
    expect(page.get_by_text("think of a split by time")).to_be_visible()
    choice = page.get_by_label("Test rows")
    choice.select_option("rows of other user than those trained with")
    expect(page.get_by_text("split: group:user")).to_be_visible()
    choice.select_option("the latest rows by day")
    expect(page.get_by_text("split: time:day")).to_be_visible()
    expect_accessible(page)
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile("/applications/app_"))
    page.get_by_role("link", name="Data", exact=True).first.click()
    expect(page.get_by_text("the latest by day")).to_be_visible()
