"""The pages over HTTP: sessions, forms from elsewhere, headers."""

import io
import re
import zipfile
from collections.abc import Callable, Iterator

import httpx
import pytest

from easeml.web import views
from service_process import EasemlProcess

pytestmark = pytest.mark.service
LOGIN = {"name": "ann", "password": "correct horse battery"}


@pytest.fixture
def visitor(easeml: EasemlProcess) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=easeml.url, trust_env=False, timeout=60.0) as client:
        yield client


@pytest.fixture
def ann(visitor: httpx.Client, cookies: Callable[[str], dict[str, str]]) -> httpx.Client:
    visitor.cookies.update(cookies("ann"))
    return visitor


def token(client: httpx.Client) -> str:
    found = re.search(r'name="csrf" value="(\w+)"', client.get("/account").text)
    assert found
    return found.group(1)


@pytest.mark.parametrize(
    "path", ["/", "/applications", "/new", "/account", "/applications/app_x/try", "/new/data_x"]
)
def test_strangers_are_asked_to_sign_in_and_come_back(visitor: httpx.Client, path: str):
    answer = visitor.get(path)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/sign-in")
    if path != "/":
        assert visitor.post("/sign-in", data={**LOGIN, "next": path}).headers["location"] == path


@pytest.mark.parametrize(
    "there", ["https://elsewhere.example/", "//elsewhere.example", "/\\elsewhere.example", "x"]
)
def test_signing_in_leads_nowhere_else(visitor: httpx.Client, there: str):
    assert visitor.post("/sign-in", data={**LOGIN, "next": there}).headers["location"] == "/"


def test_a_wrong_password_keeps_the_name(visitor: httpx.Client):
    answer = visitor.post("/sign-in", data={"name": "ann", "password": "wrong"})
    assert answer.status_code == 401
    assert 'value="ann"' in answer.text
    assert "set-cookie" not in answer.headers


def test_the_session_is_out_of_reach_for_scripts_and_other_sites(visitor: httpx.Client):
    cookie = visitor.post("/sign-in", data=LOGIN).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie


@pytest.mark.parametrize("origin", ["https://elsewhere.example", "null"])
def test_other_sites_cannot_sign_anybody_in(visitor: httpx.Client, origin: str):
    assert visitor.post("/sign-in", data=LOGIN, headers={"origin": origin}).status_code == 403


def posted_pages() -> list[str]:
    """Addresses of all pages that change something, with ids of nothing."""
    before_signing_in = ("/sign-in", "/join")
    paths = [str(one.path) for one in views.routes if "POST" in (one.methods or ())]
    return [re.sub(r"{\w+}", "x", path) for path in paths if not path.startswith(before_signing_in)]


@pytest.mark.parametrize("path", posted_pages())
@pytest.mark.parametrize("csrf", ["", "0" * 64, "é"])
def test_forms_without_the_token_of_the_session_do_nothing(ann: httpx.Client, path: str, csrf: str):
    assert ann.post(path, data={"csrf": csrf, "name": "x", "sample": "wine"}).status_code == 403


def test_uploads_need_the_token_too(ann: httpx.Client):
    tus = {"tus-resumable": "1.0.0", "upload-length": "8"}
    assert ann.post("/uploads", headers=tus).status_code == 403
    made = ann.post("/uploads", headers={**tus, "x-csrf": token(ann)}).json()["id"]
    piece = {**tus, "upload-offset": "0", "content-type": "application/offset+octet-stream"}
    for headers, status in ((piece, 403), ({**piece, "x-csrf": token(ann)}, 204)):
        assert (
            ann.patch(f"/uploads/{made}", content=b"a,b\n1,2\n", headers=headers).status_code
            == status
        )
    for path in ("/new/upload", "/applications/app_x/feed"):
        assert ann.post(f"{path}?filename=t.csv&upload={made}").status_code == 403
    answer = ann.post(f"/new/upload?filename=t.csv&upload={made}", headers={"x-csrf": token(ann)})
    assert answer.status_code == 201


def test_a_folder_of_programs_is_packed_from_what_a_browser_sends(ann: httpx.Client):
    """The service of the tests confines nothing, so it refuses programs: last, after all else."""
    shown = ann.get("/knowledge/add").text
    assert "A folder of programs" in shown
    assert "trusted here" not in shown  # classes are for providers
    toml = (
        'name = "mine"\nkind = "model"\nversion = "1"\ncontract = 1\ntitle = "Mine"\n'
        'accepts = "classification"\n[runtime]\nkind = "process"\n'
    )
    whole = {"mine/module.toml": toml, "mine/train": "#!/bin/sh", "mine/predict": "#!/bin/sh"}
    flat = {name.partition("/")[2]: text for name, text in whole.items()}
    for files, why in (
        (whole, "its isolation level is none"),
        (flat, "its isolation level is none"),
        ({**whole, "mine/.git": "left out"}, "its isolation level is none"),
        ({"mine/train": "x"}, "There is no module.toml in the folder."),
        ({**whole, "mine/deep/er": "x"}, "This lies in a folder of its own."),
        ({"mine/module.toml": toml}, "is missing"),
        ({**whole, "mine/big": "x" * 70_000}, "at most"),
    ):
        sent = [("folder", (name, text.encode())) for name, text in files.items()]
        answer = ann.post("/knowledge/add", data={"csrf": token(ann)}, files=sent)
        assert answer.status_code == 422
        assert why in answer.text
    zip_file = io.BytesIO()
    with zipfile.ZipFile(zip_file, "w") as archive:
        for name, text in whole.items():
            archive.writestr(name, text)
    for content, why in (
        (zip_file.getvalue(), "its isolation level is none"),
        (b"PK", "It cannot be read"),
    ):
        sent = {"zip": ("mine.zip", content)}
        answer = ann.post("/knowledge/add", data={"csrf": token(ann)}, files=sent)
        assert answer.status_code == 422
        assert why in answer.text


def test_notifications_are_told_elsewhere(ann: httpx.Client):
    page = "/notifications/elsewhere"
    form = {"csrf": token(ann), "address": "https://chat.lab.org/hook"}
    shown = ann.post(page, data=form).text
    assert "whsec_" in shown
    listed = ann.get(page).text
    assert "https://chat.lab.org/hook" in listed
    assert "whsec_" not in listed
    (id,) = set(re.findall(r"sub_[0-9a-z]+", listed))
    for what in ("test", "end"):
        changed = ann.post(f"{page}/{id}/{what}", data={"csrf": token(ann)})
        assert changed.status_code == 303
    assert "chat.lab.org/hook</td>" not in ann.get(page).text
    refused = ann.post(page, data={**form, "address": "ftp://chat.lab.org"})
    assert refused.status_code == 422
    assert "https://" in refused.text


def test_signing_out_ends_the_key(visitor: httpx.Client):
    ann = visitor
    assert ann.post("/sign-in", data=LOGIN).status_code == 303
    secret = next(iter(ann.cookies.values()))
    ann.post("/sign-out", data={"csrf": token(ann)})
    assert ann.get("/api/v1/me", headers={"authorization": f"Bearer {secret}"}).status_code == 401
    assert ann.get("/applications").status_code == 303


def test_a_new_password_keeps_this_browser_signed_in_and_ends_other_sign_ins(visitor: httpx.Client):
    eve = {"name": "eve", "password": LOGIN["password"]}
    visitor.post("/sign-in", data=eve)
    elsewhere = next(iter(visitor.cookies.values()))
    visitor.cookies.clear()
    visitor.post("/sign-in", data=eve)
    fields = {"csrf": token(visitor), "old": LOGIN["password"], "new": "another password"}
    assert visitor.post("/account/password", data={**fields, "old": "wrong"}).status_code == 403
    assert visitor.post("/account/password", data=fields).status_code == 303
    assert visitor.get("/account").status_code == 200
    assert (
        visitor.get("/api/v1/me", headers={"authorization": f"Bearer {elsewhere}"}).status_code
        == 401
    )
    again = {"csrf": token(visitor), "old": "another password", "new": LOGIN["password"]}
    assert visitor.post("/account/password", data=again).status_code == 303


def test_the_session_opens_pages_only(ann: httpx.Client):
    assert ann.get("/api/v1/me").status_code == 401


def test_pages_load_only_what_this_address_serves(ann: httpx.Client):
    answer = ann.get("/applications")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["cache-control"] == "no-store"
    inline = re.compile(r"^<script(?!.* src=\"/static/)|^<style| style=| on\w+=")
    tags = re.findall("<[^>]*>", answer.text)
    assert not [tag for tag in tags if inline.search(tag)]


def test_files_may_be_kept_for_ever(ann: httpx.Client):
    sheet = re.search(r'href="(/static/\w+/base.css)"', ann.get("/applications").text)
    assert sheet
    assert "immutable" in ann.get(sheet.group(1)).headers["cache-control"]


@pytest.mark.parametrize(
    "path", ["/nothing", "/static/../app.py", "/applications/app_x", "/tasks/x%00y"]
)
def test_what_is_not_there_is_said(ann: httpx.Client, path: str):
    assert ann.get(path).status_code in (404, 422)


@pytest.mark.parametrize("method", ["DELETE", "PUT"])
def test_other_methods_are_refused(ann: httpx.Client, method: str):
    assert ann.request(method, "/applications").status_code == 405


def test_predictions_of_a_file_are_for_those_who_are_signed_in(ann: httpx.Client):
    path = "/tasks/task_x/predictions"
    assert ann.get(path).status_code == 404
    ann.cookies.clear()
    assert ann.get(path).status_code == 401
