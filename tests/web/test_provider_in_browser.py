"""What a provider does in a browser: limits, archived models, users and their roles."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from clicking import SignIn, expect_accessible, upload
from service_process import EasemlProcess

pytestmark = [pytest.mark.service, pytest.mark.browser]


def test_the_provider_limits_a_tenant_and_archives_a_model(
    easeml: EasemlProcess, sign_in: SignIn, watch, wine: Path
):
    watch.allowed.append("507")
    admin, eve = sign_in("admin"), sign_in("eve")
    admin.goto("/admin")
    (chosen,) = admin.get_by_label("Tenant", exact=True).select_option("eve")
    expect(admin).to_have_url(re.compile(f"tenant={chosen}"))
    admin.get_by_label("Storage, MB").fill("0.001")
    admin.get_by_role("button", name="Set limits").click()
    expect(admin.locator("#tenants tr").filter(has_text="eve")).to_contain_text("1 kB")
    limited = json.loads(easeml.command("user", "limits", "eve", "--json"))
    assert limited["storage"] == 1000
    eve.goto("/new")
    eve.get_by_label("Choose a file").set_input_files(wine)
    expect(eve.get_by_role("alert").filter(has_text="may still store")).to_be_visible()
    by_command = ("user", "limits", "eve", "--devices", "3", "--lift", "storage", "--json")
    assert json.loads(easeml.command(*by_command)) == {**limited, "storage": None, "devices": 3}
    admin.reload()
    admin.get_by_label("Tenant", exact=True).select_option("eve")
    expect(admin.get_by_label("Storage, MB")).to_have_value("")
    expect(admin.get_by_label("Devices at once")).to_have_value("3")
    expect(admin.locator("#tenants tr").filter(has_text="eve")).to_contain_text("of 3")
    admin.get_by_label("Devices at once").fill("")
    admin.get_by_role("button", name="Set limits").click()
    expect(admin.locator("#tenants tr").filter(has_text="eve")).not_to_contain_text("of 3")

    admin.on("dialog", lambda dialog: dialog.accept())
    admin.goto("/knowledge?module=mlp-classifier")
    admin.get_by_role("button", name="Archive").click()
    expect(admin.locator("#head")).to_contain_text("archived")
    upload(eve, wine)
    expect(eve.get_by_label("Naive Bayes")).to_be_visible()
    expect(eve.get_by_label("Neural network")).to_have_count(0)
    admin.get_by_role("button", name="Let it be used again").click()
    expect(admin.locator("#head")).not_to_contain_text("archived")


def test_a_provider_makes_a_user_who_signs_in(sign_in: SignIn, easeml: EasemlProcess, watch):
    watch.allowed.append("422")
    page = sign_in("admin")
    page.goto("/admin")
    expect_accessible(page)
    page.get_by_label("Name", exact=True).fill("dan")
    page.get_by_label("Password", exact=True).fill("correct horse battery")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("#users")).to_contain_text("dan")
    page.on("dialog", lambda dialog: dialog.accept())
    dan = page.locator("#users tr").filter(has_text="dan")
    dan.get_by_role("button", name="Make a provider").click()
    expect(dan.get_by_role("button", name="Make a user")).to_be_visible()
    easeml.command("user", "role", "dan", "user")
    page.reload()
    expect(dan).to_contain_text("Make a provider")
    page.set_viewport_size({"width": 1280, "height": 200})  # the form is far below the notice
    page.locator("#users tr").filter(has_text="admin").get_by_role("button").click()
    expect(page.locator("#notice")).to_contain_text("the only provider")
    expect(page.locator("#notice")).to_be_in_viewport()
    page.goto("/admin/service")
    processes = page.locator("#processes").text_content() or ""
    assert "worker" in processes
    assert "confined to level none: limits of memory, time and disk only" in processes
    assert easeml.call(
        "POST", "/api/v1/login", {"name": "dan", "password": "correct horse battery"}
    )["secret"]


def test_admin_is_for_providers(sign_in: SignIn, watch):
    watch.allowed.append("404")
    page = sign_in("bob")
    page.goto("/applications")
    expect(page.get_by_role("link", name="Administration")).to_have_count(0)
    page.goto("/admin")
    expect(page.get_by_role("alert")).to_contain_text("no such page")
