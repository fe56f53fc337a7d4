"""Notebooks: relations with buttons, and progress that lives (extra ``notebook``).

``live(relation)`` shows a relation with buttons for the next step, candidates to accept, rows to
label, and stopping. ``%load_ext easeml.notebook`` shows every relation so, and the progress of
every ``eval()``; ``latest()`` is then the display that came last, whose ``relation`` is what the
buttons made. Without a live kernel the static HTML that every relation has is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from easeml.errors import InvalidInput
from easeml.lineage import StagedRelation, watched_by
from easeml.notebook.progress import progress

if TYPE_CHECKING:
    from easeml.notebook.widgets import LiveRelation

__all__ = ["latest", "live", "load_ipython_extension", "progress", "unload_ipython_extension"]

_SHOWN: list[LiveRelation] = []


def live(relation: StagedRelation) -> LiveRelation:
    """Return a display of a relation with buttons.

    Raises InvalidInput without anywidget, and for an answer, which knows no rows to change.
    """
    if not isinstance(relation, StagedRelation):
        raise InvalidInput(
            f"Buttons change rows, and this is no relation but {type(relation).__name__}.",
            remedy="Show the step that was asked, without eval(): live(relation.label_next()).",
        )
    try:
        from easeml.notebook.widgets import LiveRelation
    except ImportError as error:
        raise InvalidInput(
            "anywidget is not installed.", remedy="pip install 'easeml[notebook]'"
        ) from error
    _SHOWN[:] = [LiveRelation(relation)]
    return _SHOWN[0]


def latest() -> LiveRelation:
    """Return the display that was made last. Raises InvalidInput before there is one."""
    if not _SHOWN:
        raise InvalidInput("Nothing was shown yet.", remedy="Use live(relation).")
    return _SHOWN[0]


def load_ipython_extension(shell: Any) -> None:
    """Show relations with buttons, and the progress of ``eval()``; called by ``%load_ext``."""
    watched_by(progress)
    shell.display_formatter.ipython_display_formatter.for_type(StagedRelation, _display)


def unload_ipython_extension(shell: Any) -> None:
    """Show relations as they are without this; called by ``%unload_ext``."""
    watched_by(None)
    shell.display_formatter.ipython_display_formatter.pop(StagedRelation, None)


def _display(relation: StagedRelation) -> None:
    """Show the live display, with HTML that needs no kernel beside it."""
    live(relation)._ipython_display_()
