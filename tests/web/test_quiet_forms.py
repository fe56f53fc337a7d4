"""A form that is sent without leaving the page stands in a region that its answer replaces."""

from html.parser import HTMLParser
from pathlib import Path

import pytest

import easeml.web

TEMPLATES = Path(easeml.web.__file__).parent / "templates"
REGIONS = {"section", "div", "form", "article", "aside", "ul", "li"}
# Their answers appear in a region beside them: what was made, or what was predicted.
ELSEWHERE = {"/account/keys", "{{ base }}/try", "{{ action }}"}


class QuietForms(HTMLParser):
    """Finds the addresses of quiet forms that no live region holds."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, bool]] = []
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        is_live = "data-live" in given or "data-answer" in given
        if "data-quiet" in given and not is_live and not any(live for _, live in self.open):
            self.found.add(given.get("action") or "")
        if tag in REGIONS:
            self.open.append((tag, is_live))

    def handle_endtag(self, tag: str) -> None:
        if self.open and self.open[-1][0] == tag:
            self.open.pop()


@pytest.mark.parametrize("template", sorted(TEMPLATES.glob("*.html")), ids=lambda path: path.stem)
def test_what_a_form_changes_is_seen_without_loading_the_page_again(template: Path) -> None:
    forms = QuietForms()
    forms.feed(template.read_text())
    assert forms.found <= ELSEWHERE
