"""The live display of notebooks in a browser, with a stand-in for Jupyter's half of the widget."""

import base64
import json

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect

import easeml
from easeml.notebook import live
from easeml.notebook.widgets import LiveRelation

pytestmark = [pytest.mark.service, pytest.mark.browser]
HOSTILE = "<img src=x onerror='window.harmed = true'>"
TRAITS = ("html", "groups", "said", "share", "busy", "place")
MODEL = """([source, traits]) => {
  window.heard = [];
  const told = {};
  window.model = {
    get: (name) => traits[name],
    on: (event, call) => { told[event] = call; },
    send: (message) => window.heard.push(message),
    set: (changed) => {
      Object.assign(traits, changed);
      for (const name in changed) told[`change:${name}`]?.();
    },
  };
  return import(source).then((made) => made.default.render({ model, el: document.body }));
}"""


def traits_of(shown: LiveRelation) -> dict:
    return {name: getattr(shown, name) for name in TRAITS}


def carried(page: Page, shown: LiveRelation) -> None:
    """Carry presses to Python and what changed to the page, as Jupyter does."""
    for message in page.evaluate("window.heard.splice(0)"):
        shown._heard(None, json.loads(json.dumps(message)), [])
        shown.wait()
    page.evaluate("changed => window.model.set(changed)", traits_of(shown))


def test_buttons_of_the_live_display(browser: Browser):
    frame = pd.DataFrame({"width": np.arange(6.0), "kind": [HOSTILE, "b", "b", "b", "b", None]})
    relation = easeml.Relation.from_frame(frame, target="kind")
    relation = relation.with_candidates(5, "kind", {HOSTILE: 0.5, "b": 0.5})
    shown = live(relation.filter("width > 0"))
    source = base64.b64encode(LiveRelation._esm._path.read_bytes()).decode()
    page = browser.new_page()
    page.set_content(f'<div class="{shown.place}">static</div>')
    page.evaluate(MODEL, [f"data:text/javascript;base64,{source}", traits_of(shown)])
    expect(page.get_by_text("static")).to_be_hidden()
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()

    page.get_by_role("button", name="Run").click()
    carried(page, shown)
    doubts = page.get_by_role("group", name="Row 5, kind")
    expect(doubts.get_by_role("button", name=HOSTILE)).to_be_visible()

    doubts.get_by_role("button", name="b", exact=True).click()
    carried(page, shown)
    assert shown.relation.content.blocks.doubts == 0
    expect(doubts).to_have_count(0)

    page.evaluate("window.model.set({ busy: true, share: 0.5, said: 'clean is done.' })")
    expect(page.get_by_text("clean is done.")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    assert page.evaluate("window.heard") == [{"press": "stop"}]
    assert not page.evaluate("Boolean(window.harmed)")
    page.close()
