"""Random valid schemas of the whole language, and short ways to write some down."""

from typing import Any

from hypothesis import strategies as st

from easeml.schema import CategoryClass, Constraints, Field, Link, Node, Schema

NAMES = st.from_regex(r"[a-z_][0-9a-z_]{0,6}", fullmatch=True)
TYPES = ["tensor", "category", "text", "document", "timestamp"]


def number(*dim: Any, **more: Any) -> dict[str, Any]:
    """The JSON form of a tensor in a singleton."""
    return {"singleton": True, "type": "tensor", "dim": list(dim) or [1], **more}


def one(node: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The JSON form of a schema with the node ``a``."""
    return {"nodes": {"a": node}, **more}


def many(*fields: tuple[str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    """The JSON form of a non-singleton."""
    return {"fields": dict(fields), **more}


TENSOR = ("t", {"type": "tensor", "dim": [3]})


@st.composite
def dims(draw) -> tuple[int | str, ...]:
    made: list[int | str] = draw(
        st.lists(st.one_of(st.integers(1, 99), NAMES), min_size=1, max_size=4)
    )
    if draw(st.booleans()):
        at = draw(st.integers(0, len(made) - 1))
        made[at] = draw(NAMES) + draw(st.sampled_from("+" if len(made) == 1 else "?+*"))
    return tuple(made)


@st.composite
def classes(draw) -> CategoryClass:
    labels = tuple(draw(st.lists(st.text(max_size=3), max_size=3, unique=True)))
    return CategoryClass(len(labels) or draw(st.one_of(st.integers(1, 9), NAMES)), labels)


@st.composite
def values(draw, name: str, known: dict[str, CategoryClass]) -> dict[str, Any]:
    """The attributes of a field, and its class in ``known``."""
    kind = draw(st.sampled_from(TYPES))
    made: dict[str, Any] = {"name": name, "type": kind, "optional": draw(st.booleans())}
    if kind == "tensor":
        made["dim"] = draw(st.one_of(dims(), st.just((1,))))
        if made["dim"] == (1,):
            made["format"] = draw(st.sampled_from(["", "1.234,5"]))
    elif kind == "category":
        made["class_name"] = draw(
            st.one_of(st.just(name), NAMES, st.sampled_from(sorted(known) or [name]))
        )
        known.setdefault(made["class_name"], draw(classes()))
    elif kind == "timestamp":
        made["format"] = draw(st.sampled_from(["", "%Y-%m", '%d "of" %B']))
    return made


@st.composite
def schemas(draw) -> Schema:
    """A valid schema of the whole language."""
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    groups = [name for name in names if draw(st.booleans())]
    known: dict[str, CategoryClass] = {}
    nodes = {}
    for name in names:
        if name not in groups:
            more = {
                "repeat": draw(st.sampled_from(["", "*", "+"])),
                "column": draw(st.text(max_size=4)),
            }
            more["missing"] = tuple(draw(st.lists(st.text(max_size=3), max_size=2)))
            nodes[name] = Node(**draw(values(name, known)), **more)
            continue
        links = []
        for target in draw(st.lists(st.sampled_from(groups), max_size=3, unique=True)):
            upper = draw(st.one_of(st.none(), st.integers(1, 9)))
            links.append(Link(target, draw(st.integers(0, upper or 9)), upper))
        labels = draw(st.lists(NAMES, min_size=0 if links else 1, max_size=3, unique=True))
        fields = tuple(Field(**draw(values(label, known))) for label in labels)
        nodes[name] = Node(name, fields=fields, links=tuple(links))
    cyclic, undirected, fan_in = (draw(st.booleans()) for _ in range(3))
    dropped = tuple(draw(st.lists(st.text(max_size=4), max_size=2)))
    return Schema(nodes, known, dropped, Constraints(cyclic, undirected, fan_in or undirected))
