"""What lies beside an exported model for people and for catalogues: the card as a page, the data."""

import html
from collections.abc import Mapping
from typing import Any

from easeml.data import croissant_of, kinds_of
from easeml.export.facts import ModelFacts
from easeml.schema import Schema

_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title>
<style>body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 45rem; margin: 2rem auto; }}</style>
</head>
<body>
{body}
</body>
</html>
"""


def page(card: str) -> str:
    """Return a model card as an HTML page; ``card``: in the Markdown that ``facts.card`` writes."""
    parts: list[str] = []
    entries: list[str] = []
    for line in [*card.splitlines(), ""]:
        if line.startswith("- "):
            entries.append(f"<li>{html.escape(line[2:])}</li>")
            continue
        if entries:
            parts.append("<ul>" + "\n".join(entries) + "</ul>")
            entries = []
        if line:
            parts.append(_block(line))
    title = card.partition("\n")[0].removeprefix("# ")
    return _PAGE.format(title=html.escape(title), body="\n".join(parts))


def data_sheet(facts: ModelFacts, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return Croissant metadata of the version of the data that the model learned from.

    The rows themselves do not leave with the model, so it names no file.
    """
    columns = {}
    for side in ("schema_in", "schema_out"):
        columns |= kinds_of(Schema.from_json(manifest[side]))
    said = f"Version {facts.version} of the data that {facts.model_id} was trained on."
    return croissant_of(facts.dataset_id, columns, description=said, version=str(facts.version))


def _block(line: str) -> str:
    """Return a heading or a paragraph."""
    for mark, tag in (("## ", "h2"), ("# ", "h1")):
        if line.startswith(mark):
            return f"<{tag}>{html.escape(line.removeprefix(mark))}</{tag}>"
    return f"<p>{html.escape(line)}</p>"
