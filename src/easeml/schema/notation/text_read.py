"""From the short text form to schemas, by way of the JSON form; the grammar is in
``docs/schema.md``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NoReturn

from easeml.schema.notation.json_read import read_json
from easeml.schema.notation.text_write import LONE
from easeml.schema.structure import IMAGE, TYPES, SchemaError, Structure

_TOKEN = re.compile(
    r"""(?P<blank>(?:\s|\#[^\n]*)+)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<integer>[0-9]+(?![0-9A-Za-z_]))
      | (?P<word>fan-in(?![0-9A-Za-z_-])|[0-9A-Za-z_]+)
      | (?P<sign>->|\.\.|[{}\[\]():,?*+])""",
    re.VERBOSE | re.DOTALL,
)
_LARGEST = 10**9  # of a written number


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


def read_sides(text: str) -> tuple[Structure, Structure | None]:
    """See ``easeml.schema.parse_text``."""
    parser = _Parser(text)
    first = parser.schema()
    second = parser.schema() if parser.skip("->") else None
    parser.end()
    return read_json(first), None if second is None else read_json(second)


class _Parser:
    """Reads tokens from left to right, deciding by the next one only; makes the JSON form."""

    def __init__(self, text: str):
        self.text = text
        self.tokens = list(self._tokens())
        self.place = 0
        self.classes: dict[str, Any] = {}

    def _tokens(self) -> Any:
        at = 0
        while at < len(self.text):
            found = _TOKEN.match(self.text, at)
            if found is None:
                self._fail(f"{self.text[at]!r} has no meaning here.", at)
            if found.lastgroup != "blank":
                yield _Token(str(found.lastgroup), found.group(), at)
            at = found.end()
        yield _Token("end", "the end", at)

    def _fail(self, message: str, at: int, remedy: str = "") -> NoReturn:
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        raise SchemaError(message, where=f"line {line}, column {column}", remedy=remedy)

    @property
    def next(self) -> _Token:
        return self.tokens[self.place]

    def skip(self, text: str) -> bool:
        """Go past the next token if it is this sign or word."""
        if self.next.text != text or self.next.kind == "string":
            return False
        self.place += 1
        return True

    def expect(self, text: str) -> None:
        if not self.skip(text):
            self.unexpected(f"'{text}'")

    def unexpected(self, wanted: str, remedy: str = "") -> NoReturn:
        found = self.next
        shown = found.text if found.kind == "end" else repr(found.text[:40])
        self._fail(f"expected {wanted}, found {shown}.", found.at, remedy)

    def take(self, kind: str, wanted: str) -> str:
        """The text of the next token, which has to be of a kind."""
        if self.next.kind != kind:
            self.unexpected(wanted)
        self.place += 1
        return self.tokens[self.place - 1].text

    def end(self) -> None:
        if self.next.kind != "end":
            self.unexpected("the end, or '->' and an output")

    def integer(self) -> int:
        at = self.next.at
        text = self.take("integer", "a number")
        if len(text) > len(str(_LARGEST)):
            self._fail(f"expected a number of at most {_LARGEST:,}.", at)
        return int(text)

    def string(self) -> str:
        at = self.next.at
        try:
            return json.loads(self.take("string", "text in quotes"), strict=False)
        except ValueError:
            self._fail(
                "the text in quotes cannot be read.",
                at,
                remedy='Write quotes as \\" and backslashes as \\\\.',
            )

    def strings(self) -> list[str]:
        found = [self.string()]
        while self.skip(","):
            found.append(self.string())
        return found

    def items(self, closing: str, item: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        """What ``item`` puts into a dict, again and again, with commas between, up to a closing
        sign.
        """
        found: dict[str, Any] = {}
        while not self.skip(closing):
            item(found)
            if not self.skip(",") and self.next.text != closing:
                self.unexpected(f"',' or '{closing}'")
        return found

    def name(self, into: dict[str, Any], what: str) -> str:
        """A name that ``into`` does not have yet."""
        at = self.next.at
        name = self.take("word", f"the name of a {what}")
        if name in into:
            self._fail(f"the {what} '{name}' occurs twice.", at)
        return name

    def schema(self) -> dict[str, Any]:
        self.classes = {}
        if not self.skip("{"):
            document: dict[str, Any] = {"nodes": {LONE: {"singleton": True, **self.value(LONE)}}}
        else:
            document = {"nodes": self.items("}", self.node)}
            while self.clause(document):
                pass
        if self.classes:
            document["classes"] = self.classes
        return document

    def node(self, nodes: dict[str, Any]) -> None:
        name = self.name(nodes, "node")
        made: dict[str, Any] = {}
        if self.next.text in ("*", "+"):
            made["repeat"] = self.next.text
            self.place += 1
        if self.next.kind == "string":
            made["column"] = self.string()
        self.expect(":")
        if made or not self.skip("["):
            made |= self.value(name)
            if self.skip("missing"):
                self.expect("(")
                made["missing"] = self.strings()
                self.expect(")")
            nodes[name] = {"singleton": True, **made}
            return
        nodes[name] = {"singleton": False, "fields": self.items("]", self.field)}
        if self.skip("links"):
            self.expect("{")
            nodes[name]["links"] = self.items("}", self.link)

    def field(self, fields: dict[str, Any]) -> None:
        name = self.name(fields, "field")
        self.expect(":")
        fields[name] = self.value(name)

    def link(self, links: dict[str, Any]) -> None:
        target = self.name(links, "link")
        self.expect(":")
        lower = self.integer()
        if not self.skip(".."):
            links[target] = lower
        else:
            links[target] = [lower, "inf" if self.skip("inf") else self.integer()]

    def value(self, name: str) -> dict[str, Any]:
        """A type, and whether the value may be missing.

        ``name`` is that of its class where it says none.
        """
        if self.skip("number"):
            made: dict[str, Any] = {"type": "tensor", "dim": [1], **self.form()}
        elif self.skip("tensor"):
            self.expect("[")
            made = {"type": "tensor", "dim": self.dims()}
        elif self.skip(IMAGE):
            self.expect("[")
            made = {"type": "tensor", "dim": self.dims(), "format": IMAGE}
        elif self.skip("category"):
            made = {"type": "category", "class": self.category(name)}
        elif self.skip("timestamp"):
            made = {"type": "timestamp", **self.form()}
        else:
            made = {"type": next((word for word in ("text", "document") if self.skip(word)), None)}
            if made["type"] is None:
                close = get_close_matches(self.next.text, ("number", *TYPES), n=1)
                self.unexpected(
                    f"number, {', '.join(TYPES)}", f"Did you mean '{close[0]}'?" if close else ""
                )
        if self.skip("?"):
            made["optional"] = True
        return made

    def form(self) -> dict[str, str]:
        """How a number or a timestamp is written, where that is said."""
        if not self.skip("("):
            return {}
        form = self.string()
        self.expect(")")
        return {"format": form}

    def dims(self) -> list[int | str]:
        found: list[int | str] = []
        while True:
            size = self.size("a size, or the name of a variable")
            if isinstance(size, str) and self.next.text in ("?", "*", "+"):
                size += self.next.text
                self.place += 1
            found.append(size)
            if self.skip("]"):
                return found
            if not self.skip(","):
                self.unexpected("',' or ']'")

    def size(self, wanted: str) -> int | str:
        return self.integer() if self.next.kind == "integer" else self.take("word", wanted)

    def category(self, name: str) -> str:
        """The class of a category: declared here under ``name``, or by the clause ``classes``."""
        if self.skip("of"):
            return self.take("word", "the name of a class")
        at = self.next.at
        self.expect("(")
        made = self.members()
        self.expect(")")
        if name in self.classes:
            remedy = (
                "Declare one of them behind the nodes: category of some ... classes {some: 12}."
            )
            self._fail(f"there are two classes of the name '{name}'.", at, remedy)
        self.classes[name] = made
        return name

    def members(self) -> dict[str, Any]:
        """The labels of a class, or how many it has."""
        if self.next.kind != "string":
            return {"dim": self.size("the number of classes, or their labels in quotes")}
        labels = self.strings()
        return {"dim": len(labels), "labels": labels}

    def clause(self, document: dict[str, Any]) -> bool:
        """One of the clauses behind the nodes; whether there was one."""
        at = self.next.at
        word = next(
            (w for w in ("cyclic", "undirected", "fan-in", "classes", "dropped") if self.skip(w)),
            None,
        )
        if word is None:
            return False
        flags = document.setdefault("ref-constraints", {})
        if word in document or word in flags:
            self._fail(f"'{word}' occurs twice.", at)
        if word == "classes":
            self.expect("{")
            document["classes"] = True
            self.items("}", self.shared_class)
        elif word == "dropped":
            self.expect("(")
            document["dropped"] = self.strings()
            self.expect(")")
        else:
            flags[word] = True
        return True

    def shared_class(self, _: dict[str, Any]) -> None:
        name = self.name(self.classes, "class")
        self.expect(":")
        listed = self.skip("(")
        self.classes[name] = (
            self.members()
            if listed
            else {"dim": self.size("a number, a variable or ('label', ...)")}
        )
        if listed:
            self.expect(")")
