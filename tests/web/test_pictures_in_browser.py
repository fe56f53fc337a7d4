"""Pictures, texts and graphs on the pages: what easeml saw, trying one, and the code that asks."""

import json
import re
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import expect

from clicking import SignIn
from data import sample_files
from service_process import EasemlProcess

pytestmark = [pytest.mark.service, pytest.mark.browser]


def test_pictures_from_what_easeml_saw_to_trying_one(sign_in: SignIn, tmp_path: Path) -> None:
    page = sign_in("ann")
    page.goto("/new")
    page.get_by_label("Choose a file").set_input_files(
        sample_files.pictures(tmp_path / "pictures.zip")
    )
    page.wait_for_url(re.compile("/new/data_"))
    expect(page.get_by_role("img", name="example 1")).to_be_visible()
    expect(page.get_by_text("Pictures: height 12, width 12, channels 1.")).to_be_visible()
    offered = page.locator("input[name=offered]").evaluate_all("all => all.map(one => one.value)")
    page.goto(page.url + "?" + "&".join(f"exclude={one}" for one in offered if one != "logistic"))
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile("/applications/app_"))
    page.goto(page.url + "/try")
    expect(page.locator("#predict")).to_be_enabled(timeout=120_000)
    (tmp_path / "stripes.png").write_bytes(sample_files.picture("stripes", 77))
    page.get_by_label("image").set_input_files(tmp_path / "stripes.png")
    expect(page.get_by_role("img", name="the picture that is predicted")).to_have_attribute(
        "src", re.compile("^data:image/png;base64,")
    )
    page.locator("#predict").click()
    expect(page.locator("#predicted")).to_have_text("stripes")
    page.get_by_label("A zip file of samples, or arrays").set_input_files(tmp_path / "pictures.zip")
    page.get_by_role("button", name="Predict the file").click()
    expect(page.locator("#answer")).to_contain_text("30 rows predicted")
    page.goto(page.url.replace("/try", "/endpoint"))
    expect(page.locator("#curl")).to_contain_text("--data-binary @picture.png")
    expect(page.locator("#curl-csv")).to_contain_text("application/octet-stream")
    expect(page.locator("#python")).to_contain_text('file=Path("picture.png").read_bytes()')
    expect(page.locator("#javascript")).to_contain_text('body: await readFile("picture.png")')
    expect(page.get_by_text("base64")).to_have_count(0)
    page.goto(page.url.replace("/endpoint", "/data"))
    expect(page.get_by_role("img", name="example 1")).to_be_visible()
    page.get_by_role("link", name="Look at the training rows").click()
    expect(page.locator("td img.thumbnail").first).to_be_visible()


def test_a_graph_is_tried_as_json(easeml: EasemlProcess, sign_in: SignIn, tmp_path: Path) -> None:
    key, easeml.key = easeml.key, ""
    login = {"name": "ann", "password": "correct horse battery"}
    easeml.key = easeml.call("POST", "/api/v1/login", login)["secret"]
    path = sample_files.molecules(tmp_path / "molecules.zip")
    made = easeml.command(
        "app", "create", str(path), "--yes", "--json", "--models", "logistic", "--max-tasks", "1"
    )
    application = json.loads(made)["id"]
    easeml.wait(application, "first-model", 120)
    easeml.key = key
    page = sign_in("ann")
    page.goto(f"/applications/{application}/try")
    page.locator("#predict").click()
    expect(page.locator("#predicted")).to_have_text(re.compile("ring|chain"))
    page.get_by_label("graph").fill("{")
    page.locator("#predict").click()
    expect(page.get_by_role("alert")).to_contain_text("is not a graph")


def test_a_zip_file_of_texts_is_predicted(
    easeml: EasemlProcess, sign_in: SignIn, tmp_path: Path
) -> None:
    key, easeml.key = easeml.key, ""
    login = {"name": "ann", "password": "correct horse battery"}
    easeml.key = easeml.call("POST", "/api/v1/login", login)["secret"]
    path = sample_files.texts(tmp_path / "texts")
    options = ("--models", "words-logistic", "--max-tasks", "1")
    made = easeml.command("app", "create", str(path), "--yes", "--json", *options)
    application = json.loads(made)["id"]
    easeml.wait(application, "first-model", 120)
    easeml.key = key
    with zipfile.ZipFile(tmp_path / "new.zip", "w") as archive:
        archive.writestr("first.txt", "It was lovely, fine and warm.")
        archive.writestr("second.txt", "It was dull, poor and cold.")
    page = sign_in("ann")
    page.goto(f"/applications/{application}/try")
    file = page.get_by_label("A CSV file with a header, or a zip file of texts")
    file.set_input_files(tmp_path / "new.zip")
    page.get_by_role("button", name="Predict the file").click()
    expect(page.locator("#answer")).to_contain_text("2 rows predicted")
