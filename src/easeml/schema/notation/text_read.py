"""From the short text form to schemas, by way of the JSON form.

The grammar is in ``docs/schema.md``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NoReturn, TypeVar

from easeml.schema.notation.json_read import read_json
from easeml.schema.notation.text_write import LONE
from easeml.schema.structure import IMAGE, TYPES, WILDCARDS, SchemaError, Structure

_TOKEN = re.compile(
    r"""(?P<blank>(?:\s|\#[^\n]*)+)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<integer>[0-9]+(?![0-9A-Za-z_]))
      | (?P<word>fan-in(?![0-9A-Za-z_-])|[0-9A-Za-z_]+)
      | (?P<sign>->|\.\.|[{}\[\]():,?*+])""",
    re.VERBOSE | re.DOTALL,
)
_LARGEST = 10**9  # of a written number
_CLAUSES = ("cyclic", "undirected", "fan-in", "classes", "dropped")
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


def read_sides(text: str) -> tuple[Structure, Structure | None]:
    """See ``easeml.schema.parse_text``."""
    parser = _Parser(text)
    first = parser.schema()
    if not parser.skip("->"):
        parser.end()
        return read_json(first), None

    second = parser.schema()
    parser.end()
    return read_json(first), read_json(second)


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
        raise SchemaError(
            message,
            where=f"line {line}, column {column}",
            remedy=remedy,
        )

    @property
    def next(self) -> _Token:
        return self.tokens[self.place]

    def skip(self, text: str) -> bool:
        """Go past the next token if it is this sign or word."""
        if self.next.text != text:
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

    def several(self, item: Callable[[], _Item]) -> list[_Item]:
        """One item or more, with commas between."""
        found = [item()]
        while self.skip(","):
            found.append(item())
        return found

    def strings(self) -> list[str]:
        return self.several(self.string)

    def in_parentheses(self, content: Callable[[], _Item]) -> _Item:
        self.expect("(")
        found = content()
        self.expect(")")
        return found

    def items(self, closing: str, item: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        """What ``item`` puts into a dict, again and again, with commas between, up to a sign."""
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
        """One side."""
        self.classes = {}
        document: dict[str, Any] = {}
        if self.skip("{"):
            document["nodes"] = self.items("}", self.node)
            while self.clause(document):
                pass
        else:
            # A lone value goes without braces and a name.
            lone = {"singleton": True, **self.value(LONE)}
            document["nodes"] = {LONE: lone}

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
        # Only a singleton is repeated or has a column.
        if not made and self.skip("["):
            nodes[name] = self.non_singleton()
        else:
            nodes[name] = {"singleton": True, **made, **self.singleton(name)}

    def singleton(self, name: str) -> dict[str, Any]:
        made = self.value(name)
        if self.skip("missing"):
            made["missing"] = self.in_parentheses(self.strings)
        return made

    def non_singleton(self) -> dict[str, Any]:
        made: dict[str, Any] = {"singleton": False}
        made["fields"] = self.items("]", self.field)
        if self.skip("links"):
            self.expect("{")
            made["links"] = self.items("}", self.link)
        return made

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
            return

        upper = "inf" if self.skip("inf") else self.integer()
        links[target] = [lower, upper]

    def value(self, name: str) -> dict[str, Any]:
        """A type, and whether the value may be missing.

        ``name`` is that of its class where it says none.
        """
        made = self.type(name)
        if self.skip("?"):
            made["optional"] = True
        return made

    def type(self, name: str) -> dict[str, Any]:
        rest_of: dict[str, Callable[[], dict[str, Any]]] = {
            "number": lambda: {"type": "tensor", "dim": [1], **self.form()},
            "tensor": lambda: {"type": "tensor", "dim": self.dims()},
            IMAGE: lambda: {"type": "tensor", "dim": self.dims(), "format": IMAGE},
            "category": lambda: {"type": "category", "class": self.category(name)},
            "timestamp": lambda: {"type": "timestamp", **self.form()},
            "text": lambda: {"type": "text"},
            "document": lambda: {"type": "document"},
        }
        rest = rest_of.get(self.next.text)
        if rest is not None:
            self.place += 1
            return rest()

        close = get_close_matches(self.next.text, ("number", *TYPES), n=1)
        remedy = f"Did you mean '{close[0]}'?" if close else ""
        return self.unexpected(f"number, {', '.join(TYPES)}", remedy)

    def form(self) -> dict[str, str]:
        """How a number or a timestamp is written, where that is said."""
        if self.next.text != "(":
            return {}
        return {"format": self.in_parentheses(self.string)}

    def dims(self) -> list[int | str]:
        self.expect("[")
        found = self.several(self.dim)
        if not self.skip("]"):
            self.unexpected("',' or ']'")
        return found

    def dim(self) -> int | str:
        """A size, or a variable with or without a wildcard."""
        size = self.size("a size, or the name of a variable")
        if isinstance(size, str) and self.next.text in WILDCARDS:
            size += self.next.text
            self.place += 1
        return size

    def size(self, wanted: str) -> int | str:
        if self.next.kind == "integer":
            return self.integer()
        return self.take("word", wanted)

    def category(self, name: str) -> str:
        """The class of a category: declared here under ``name``, or by the clause ``classes``."""
        if self.skip("of"):
            return self.take("word", "the name of a class")
        at = self.next.at
        made = self.in_parentheses(self.members)
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
        word = self.next.text
        if word not in _CLAUSES:
            return False

        self.place += 1
        flags = document.setdefault("ref-constraints", {})
        if word in {*document, *flags}:
            self._fail(f"'{word}' occurs twice.", at)

        if word == "classes":
            self.expect("{")
            document["classes"] = True  # until ``schema`` puts what was read in its place
            self.items("}", self.shared_class)
        elif word == "dropped":
            document["dropped"] = self.in_parentheses(self.strings)
        else:
            flags[word] = True
        return True

    def shared_class(self, _: dict[str, Any]) -> None:
        name = self.name(self.classes, "class")
        self.expect(":")
        if self.next.text == "(":
            self.classes[name] = self.in_parentheses(self.members)
        else:
            size = self.size("a number, a variable or ('label', ...)")
            self.classes[name] = {"dim": size}
