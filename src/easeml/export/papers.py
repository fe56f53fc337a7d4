"""What lies beside an exported model for people and for catalogues: the card as a page and as paper,
the data.
"""

import html
import textwrap
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
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


_WIDTH, _HEIGHT, _MARGIN = 8.27, 11.69, 0.8  # of paper, in inches: A4
_LINE = 1.4  # of the size of its letters
_POINTS = 72  # an inch


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


def write_pdf(card: str, path: Path) -> None:
    """Write a model card, in the Markdown that ``facts.card`` writes, as pages of A4."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_pdf import FigureCanvasPdf, PdfPages
    from matplotlib.figure import Figure

    title = card.partition("\n")[0].removeprefix("# ")
    about = {"Title": title, "Creator": "easeml", "CreationDate": None}
    # Letters as TrueType: what is written can be searched and copied.
    with rc_context({"pdf.fonttype": 42}), PdfPages(path, metadata=about) as pages:
        for lines in _sheets(card):
            figure = Figure(figsize=(_WIDTH, _HEIGHT))
            FigureCanvasPdf(figure)
            for height, text, size in lines:
                figure.text(_MARGIN / _WIDTH, height / _HEIGHT, text, size=size, parse_math=False)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # a letter that the font has not
                pages.savefig(figure)


def _sheets(card: str) -> Iterator[list[tuple[float, str, float]]]:
    """Yield the lines of each page: the height above its foot in inches, text, size in points."""
    lines: list[tuple[float, str, float]] = []
    height = _HEIGHT - _MARGIN
    for text, size in _lines_of_paper(card):
        height -= _LINE * size / _POINTS
        if height < _MARGIN:
            yield lines
            lines = []
            height = _HEIGHT - _MARGIN - _LINE * size / _POINTS
        lines.append((height, text, size))
    yield lines


def _lines_of_paper(card: str) -> Iterator[tuple[str, float]]:
    """Yield the lines of a card, broken to the width of the page, with their sizes in points."""
    for line in card.splitlines():
        text = line
        size = 10.0
        if line.startswith("# "):
            text, size = line[2:], 18.0
        elif line.startswith("## "):
            text, size = line[3:], 13.0
        elif line.startswith("- "):
            text = f"• {line[2:]}"
        letters = int((_WIDTH - 2 * _MARGIN) * _POINTS / (0.55 * size))
        for part in textwrap.wrap(text, letters, subsequent_indent="  ") or [""]:
            yield part, size


def data_sheet(facts: ModelFacts, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return Croissant metadata of the version of the data that the model learned from.

    The rows themselves do not leave with the model: ``easeml data export`` writes them for
    their owner.
    """
    columns = {}
    for side in ("schema_in", "schema_out"):
        columns |= kinds_of(Schema.from_json(manifest[side]))
    if facts.weight:
        columns[facts.weight] = "number"
    said = (
        f"Version {facts.version} of the data that {facts.model_id} was trained on; its owner has "
        f"them by: easeml data export {facts.application_id}:{facts.version} rows.csv."
    )
    return croissant_of(facts.dataset_id, columns, description=said, version=str(facts.version))


def _block(line: str) -> str:
    """Return a heading or a paragraph."""
    for mark, tag in (("## ", "h2"), ("# ", "h1")):
        if line.startswith(mark):
            return f"<{tag}>{html.escape(line.removeprefix(mark))}</{tag}>"
    return f"<p>{html.escape(line)}</p>"
