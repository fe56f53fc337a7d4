"""A relation with buttons, alive while its kernel is. Needs anywidget."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any
from uuid import uuid4

import anywidget
import traitlets

from easeml.errors import EasemlError
from easeml.lineage import Answer, Node, StagedRelation
from easeml.notebook.actions import Action, Group, next_steps, to_accept, to_check, to_label

_STATIC = Path(__file__).parent / "static"


class Stopped(Exception):
    """Somebody pressed stop. What was computed is kept."""


class LiveRelation(anywidget.AnyWidget):
    """A relation as it stands, with what can be done next. Work runs in a thread of its own.

    ``relation`` is what the buttons have made of it so far. Traits are what the browser shows.
    """

    _esm = _STATIC / "live.js"
    _css = _STATIC / "live.css"

    html = traitlets.Unicode().tag(sync=True)
    groups = traitlets.List().tag(sync=True)
    said = traitlets.Unicode().tag(sync=True)
    share = traitlets.Float(0.0).tag(sync=True)
    busy = traitlets.Bool(False).tag(sync=True)
    place = traitlets.Unicode().tag(sync=True)  # class of the static HTML that gives way

    def __init__(self, relation: StagedRelation):
        super().__init__(place=f"easeml-static-{uuid4().hex}")
        self.relation = relation
        self._before: list[StagedRelation] = []
        self._asked: Answer | None = None  # whose rows are offered until they are done
        self._actions: dict[str, Callable[[], None]] = {}
        self._stop = Event()
        self._thread: Thread | None = None
        self.on_msg(self._heard)
        self._show(relation)

    def press(self, name: str) -> None:
        """Press a button by the name that it has in ``groups``; ``stop`` while work runs."""
        if name == "stop":
            self._stop.set()
            return
        pressed = self._actions.get(name)
        if pressed is not None and not self.busy:
            pressed()

    def wait(self) -> None:
        """Return when nothing runs any more."""
        if self._thread is not None:
            self._thread.join()

    def _heard(self, _: Any, content: Any, __: Any) -> None:
        if isinstance(content, dict):
            self.press(str(content.get("press", "")))

    def _evaluate(self, relation: StagedRelation) -> None:
        """Do what a step asks for. An answer is shown, and the relation stays what it was."""
        relation.eval(told=self._told)
        if relation.answer is not None:
            self._asked = relation.answer
        elif relation is not self.relation:
            self._before.append(self.relation)
            self.relation = relation
        self._show(relation)

    def _told(self, node: Node, share: float) -> None:
        self.share = share
        self.said = f"{node.title} is done."
        if self._stop.is_set():
            raise Stopped

    def _begin(self, work: Callable[[], None]) -> None:
        """Run work beside the cell, so that stopping and looking stay possible."""
        self._stop.clear()
        self.busy = True
        self.share = 0.0
        self.said = "Working"
        self._thread = Thread(target=self._run, args=[work], daemon=True)
        self._thread.start()

    def _run(self, work: Callable[[], None]) -> None:
        self.said = ""
        try:
            work()
        except Stopped:
            self.said = "Stopped. What was computed is kept; run it again to go on."
        except EasemlError as error:
            self.said = f"{error} {error.remedy or ''}".strip()
        finally:
            self.busy = False

    def _suggest(self) -> None:
        self._offer([next_steps(self.relation.suggest())])

    def _undo(self) -> None:
        self.relation = self._before.pop()
        self._show(self.relation)

    def _show(self, shown: StagedRelation) -> None:
        """Show a relation or an answer, with the buttons that fit."""
        self.html = shown._repr_html_()
        self.said = ""
        if not shown.node.kept:
            run = Action("Run", "Do what was asked for", lambda: shown)
            self._offer([Group("", (run,))])
            return
        if shown.answer is not None and shown is self.relation:
            # An analysis that was shown itself: buttons change the rows that it is about.
            self._asked = shown.answer
            self.relation = type(shown).of(shown.node.inputs[0])
        self._offer(self._about_rows())

    def _about_rows(self) -> list[Group]:
        """Return buttons for the rows that were asked for last, or for the first in doubt."""
        groups: list[Group] = []
        if self._asked is not None:
            groups = self._about(self._asked)
        return groups or to_accept(self.relation)

    def _about(self, asked: Answer) -> list[Group]:
        """Return buttons for the rows of an answer; none where they are done."""
        if asked.operator == "label_next":
            return to_label(self.relation, asked["row_ids"])
        if asked.operator == "check_labels":
            return to_check(self.relation, asked)
        if asked.operator == "plan_cleaning":
            planned = [each["row_id"] for each in asked["planned"]]
            return to_accept(self.relation, planned)
        return []

    def _offer(self, groups: list[Group]) -> None:
        """Name the buttons, and keep what each does."""
        self._actions = {}
        shown: list[dict[str, Any]] = []
        for group in groups:
            buttons = []
            for action in group.actions:
                name = f"b{len(self._actions)}"
                self._actions[name] = self._pressed(action)
                buttons.append({"name": name, "label": action.label, "detail": action.detail})
            shown.append({"title": group.title, "buttons": buttons})
        shown.append({"title": "", "buttons": self._always()})
        self.groups = shown

    def _always(self) -> list[dict[str, str]]:
        """Return the buttons that are there whatever is shown."""
        self._actions["suggest"] = lambda: self._begin(self._suggest)
        buttons = [{"name": "suggest", "label": "What next?", "detail": "Rank what can be done"}]
        if self._before:
            self._actions["undo"] = self._undo
            buttons.append({"name": "undo", "label": "Undo", "detail": "Take the last change back"})
        return buttons

    def _pressed(self, action: Action) -> Callable[[], None]:
        return lambda: self._begin(lambda: self._evaluate(action.make()))

    def _ipython_display_(self) -> None:
        """Show static HTML, which pages without a kernel keep, and the live display in its place.

        They are two outputs, since viewers that know widgets show nothing else of an output, even
        where no kernel runs.
        """
        from IPython.display import display

        static = self.relation._repr_mimebundle_()
        static["text/html"] = f'<div class="{self.place}">{static["text/html"]}</div>'
        display(static, raw=True)
        alive, metadata = self._repr_mimebundle_() or ({}, {})
        display(alive, metadata=metadata, raw=True)
