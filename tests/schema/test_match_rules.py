"""A test for each rule of matching by itself, among them those that no public example shows; and
the reasons given.
"""

import pytest

from easeml.schema import Match, Schema, match, match_both, why_not

CASES = [
    ("M01 fewer", "{a: number, b: number}", "{x: number}", False),
    ("M01 more", "{a: number}", "{x: number, y: number}", False),
    ("M01 sorts", "{a: tensor[3]}", "{x: [f: tensor[3]]}", False),
    ("M01 no singleton", "{a: [f: text]}", "{x: number, y: [f: text]}", False),
    ("M02 order", "{a: tensor[2], b: tensor[3]}", "{x: tensor[3], y: tensor[2]}", True),
    ("M03 tensor fields", "{a: [f: tensor[2], g: tensor[2]]}", "{x: [f: tensor[2]]}", False),
    ("M03 kinds", "{a: [f: tensor[2], g: text]}", "{x: [f: tensor[2], g: tensor[2]]}", False),
    ("M03 field order", "{a: [f: tensor[n], g: tensor[3]]}", "{x: [f: tensor[3], g: tensor[2]]}", True),
    ("M03 links", "{a: [f: text] links {a: 0..1}}", "{x: [f: text]}", False),
    ("M03 links more", "{a: [f: text]}", "{x: [f: text] links {x: 0..1}}", False),
    ("M04 inside", "{a: [f: text] links {a: 0..inf}}", "{x: [f: text] links {x: 2..5}}", True),
    ("M04 lower", "{a: [f: text] links {a: 1..2}}", "{x: [f: text] links {x: 0..2}}", False),
    ("M04 upper", "{a: [f: text] links {a: 0..2}}", "{x: [f: text] links {x: 0..3}}", False),
    ("M04 inf", "{a: [f: text] links {a: 0..9}}", "{x: [f: text] links {x: 0..inf}}", False),
    ("M04 target", "{a: [f: text] links {b: 1}, b: [f: tensor[2]]}",
     "{x: [f: text] links {x: 1}, y: [f: tensor[2]]}", False),
    ("M05 singletons only", "{a: number} undirected", "{x: number} cyclic fan-in", True),
    ("M05 cyclic", "{a: [f: text]}", "{x: [f: text]} cyclic", False),
    ("M05 undirected", "{a: [f: text]} undirected", "{x: [f: text]}", False),
    ("M05 fan-in", "{a: [f: text]}", "{x: [f: text]} fan-in", False),
    ("M05 wider", "{a: [f: text]} cyclic fan-in", "{x: [f: text]} undirected", True),
    ("M06", "{a: tensor[3]}", "{x: tensor[4]}", False),
    ("M07 rank", "{a: tensor[n]}", "{x: tensor[3, 3]}", False),
    ("M08 across", "{a: tensor[n], b: [f: tensor[n]]}", "{x: tensor[3], y: [f: tensor[4]]}", False),
    ("M08 class size", "{a: tensor[n], b: category(n)}", "{x: tensor[3], y: category(3)}", True),
    ("M08 class size differs", "{a: tensor[n], b: category(n)}", "{x: tensor[3], y: category(4)}", False),
    ("M09 none", "{a: tensor[n, k?]}", "{x: tensor[3]}", True),
    ("M09 one", "{a: tensor[n, k?]}", "{x: tensor[3, 4]}", True),
    ("M09 two", "{a: tensor[n, k?]}", "{x: tensor[3, 4, 4]}", False),
    ("M09 equal", "{a: tensor[n, k*]}", "{x: tensor[3, 4, 5]}", False),
    ("M09 free", "{a: tensor[3, k*], b: tensor[k]}", "{x: tensor[3], y: tensor[9]}", True),
    ("M10", "{a: tensor[k+], b: tensor[2, k*]}", "{x: tensor[4, 4, 4], y: tensor[2, 4]}", True),
    ("M10 value", "{a: tensor[k+], b: tensor[2, k*]}", "{x: tensor[4, 4, 4], y: tensor[2, 5]}", False),
    ("M10 none and some", "{a: tensor[k+], b: tensor[2, k*]}", "{x: tensor[4, 4], y: tensor[2]}", True),
    ("M11 opaque", "{a: tensor[n, n]}", "{x: tensor[u, u]}", True),
    ("M11 opaque differ", "{a: tensor[n, n]}", "{x: tensor[u, v]}", False),
    ("M11 wildcard", "{a: tensor[n, n, n]}", "{x: tensor[u+]}", True),
    ("M11 both wild", "{a: tensor[n, k+]}", "{x: tensor[u*, 3]}", True),
    ("M11 both wild shared", "{a: tensor[n, n*, 3]}", "{x: tensor[2, u*, 3]}", True),
    ("M12 dim", "{a: tensor[3]}", "{x: tensor[u]}", False),
    ("M12 class", "{a: category(3)}", "{x: category(u)}", False),
    ("M14 one class", "{a: category of c, b: category of c} classes {c: n}",
     "{x: category(3), y: category(3)}", False),
    ("M14 two onto one", "{a: category(n), b: category(m)}",
     "{x: category of k, y: category of k} classes {k: 3}", True),
    ("optional", "{a: number}", "{x: number?}", False),
    ("optional place", "{a: [f: text?]}", "{x: [f: text]}", True),
    ("types", "{a: text}", "{x: document}", False),
    ("backtrack fields", "{a: [f: tensor[n], g: tensor[n, m]], b: tensor[m]}",
     "{x: [f: tensor[2], g: tensor[2, 5]], y: tensor[5]}", True),
    ("backtrack singletons", "{a: tensor[n], b: tensor[m], c: [f: tensor[m]]}",
     "{x: tensor[2], y: tensor[3], z: [f: tensor[2]]}", True),
    ("backtrack classes", "{a: category of c, b: category of d, e: category of c} classes {c: n, d: m}",
     "{x: category of p, y: category of q, z: category of q} classes {p: 2, q: 2}", True),
    ("repeat", "{a*: number?, b*: tensor[n]}", "{x: number, y: tensor[2], z: tensor[3]}", True),
    ("repeated source", "{a+: number}", "{x+: number}", True),
    ("repeated source, fixed place", "{a: number}", "{x+: number}", False),
    ("repeated source, one at least", "{a+: number}", "{x*: number}", False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "source", "fits"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_rule(wanted: str, source: str, fits: bool) -> None:
    destination, data = Schema.from_text(wanted), Schema.from_text(source)
    assert (destination.match(data) is not None) == fits
    assert (why_not(destination, data) == "") == fits


def test_what_a_match_says() -> None:
    destination = Schema.from_text(
        "{a: tensor[n, k*], b: [f: category of c, g: tensor[n]] links {b: 0..2}} classes {c: n}"
    )
    source = Schema.from_text("{x: tensor[3], y: [p: tensor[3], q: category(3)] links {y: 1..1}}")
    found = match(destination, source)
    assert found == Match({"x": "a", "y": "b"}, {"c": "q"}, {"n": 3}, {"y": {"p": "g", "q": "f"}})
    assert found.to_json()["fields"] == {"y": {"p": "g", "q": "f"}}
    result = found.annotate(destination, source).to_json()
    assert result["src-dims"] == {"n": 3}
    assert result["nodes"]["a"] == {
        "singleton": True, "type": "tensor", "dim": ["n", "k*"], "src-name": "x", "src-dim": [3],
    }  # fmt: skip
    assert result["nodes"]["b"]["src-name"] == "y"
    assert result["nodes"]["b"]["fields"]["f"] == {
        "type": "category",
        "class": "c",
        "src-name": "q",
    }
    assert result["classes"] == {"c": {"dim": "n", "src-name": "q"}}
    constant = match(Schema.from_text("tensor[3]"), Schema.from_text("tensor[3]"))
    assert constant is not None
    assert (
        "src-dims"
        not in constant.annotate(
            Schema.from_text("tensor[3]"), Schema.from_text("tensor[3]")
        ).to_json()
    )


def test_variables_are_shared_by_input_and_output_only_on_request() -> None:
    wanted = Schema.from_text("tensor[n, m]"), Schema.from_text("tensor[n]")
    fitting = Schema.from_text("tensor[3, 4]"), Schema.from_text("tensor[3]")
    other = Schema.from_text("tensor[3, 4]"), Schema.from_text("tensor[4]")
    assert match_both(wanted, fitting) == (
        Match({"value": "value"}, {}, {"n": 3, "m": 4}),
        Match({"value": "value"}, {}, {"n": 3}),
    )
    assert match_both(wanted, other) is None
    assert all(match(*pair) is not None for pair in zip(wanted, other, strict=True))


REASONS = [
    ("{a: [f: text]}", "{x: [f: text]} cyclic fan-in",
     "The data is not of the form it takes: its links may form cycles and "
     "several of its links may lead to one instance."),
    ("{a: number}", "{x: text}", "'x' is text, and it takes only: a number."),
    ("{a: number}", '{x "Lot Area": number?}', "'Lot Area' has missing values, and it takes none in a number."),
    ("{a: tensor[3, n]}", "{x: tensor[4, 4]}",
     "'x' is an array of 4 x 4 numbers, and it takes: an array of 3 x n numbers."),
    ("{a: tensor[a, b, c, d]}", "{x: category(2)}",
     "'x' is a category of 2 classes, and it takes only: an array of numbers with 4 dimensions."),
    ("{a: tensor[n]}", "{x: text}", "'x' is text, and it takes only: a list of numbers."),
    ("{a: tensor[n, n]}", "{x: text}", "'x' is text, and it takes only: an array of n x n numbers."),
    ("{a: number}", "{x*: number}", "'x' is a number, any number of times, and it takes a fixed number."),
    ("{a: category(2), b*: number}", "{x: number}", "It needs a category of 2 classes, and there is none."),
    ("{a: number, b: number}", "{x: number}", "It takes exactly 2 values, and there are 1."),
    ("{a: number, b: text, c*: document}", "{x: number, y: number, z: text}",
     "It has room for 1 such as a number, and there are 2: 'x', 'y'."),
    ("{a: number, b: number, c: text, d*: text}", "{x: number, z: text}",
     "It needs 2 such as a number, and there are 1."),
    ("{a: [f: tensor[2]]}", "{x: [f: tensor[3]]}",
     "'x' is any number of instances of (an array of 3 numbers), and it takes: "
     "any number of instances of (an array of 2 numbers)."),
    ("{a: [f: text] links {a: 0..1}}", "{x: [f: text] links {x: 0..inf}}",
     "'x' has links to x 0..inf, and it takes: links to a 0..1."),
    ("{a: tensor[n], b: tensor[n, n], c: tensor[m, 1, 1], d: tensor[m, 2, 2, 2]}",
     "{x: tensor[3], y: tensor[4, 4], z: tensor[5, 1, 1], w: tensor[5, 2, 2, 2]}",
     "Sizes that have to be equal are not: 'n' is 3 in 'a', 4 in 'b'."),
    ("{a: category of c, b: category of c} classes {c: n}", "{x: category(3), y: category(3)}",
     "Categories that have to be of one class are not: 'a', 'b'."),
    ("{a: category of c, b: category of c, t: tensor[n]} classes {c: n}",
     "{x: category of k, y: category of k, t: tensor[4]} classes {k: 3}",
     "Sizes that have to be equal are not: 'n' is 3 in 'a', 3 in 'b', 4 in 't'."),
    ("{a: [f: tensor[n], g: tensor[n]]}", "{x: [f: tensor[2], g: tensor[3]]}",
     "Sizes that have to be equal are not: 'n' is 2 or 3 in 'a.f', 2 or 3 in 'a.g'."),
]  # fmt: skip


@pytest.mark.parametrize(("wanted", "source", "reason"), REASONS, ids=range(len(REASONS)))
def test_the_reason_is_the_smallest(wanted: str, source: str, reason: str) -> None:
    assert why_not(Schema.from_text(wanted), Schema.from_text(source)) == reason


def graph(*pairs: str, field: str = "") -> Schema:
    """Nodes with links; ``"ab"`` is one from a to b.

    ``field`` names the one that has another field than the rest.
    """
    nodes = {}
    for name in sorted(set("".join(pairs))):
        links = ", ".join(f"{pair[1]}: 1" for pair in pairs if pair[0] == name)
        nodes[name] = f"{name}: [f: {'text' if name == field else 'document'}] links {{{links}}}"
    return Schema.from_text(f"{{{', '.join(nodes.values())}}} cyclic")


def test_only_links_are_in_the_way() -> None:
    ring = ("ab", "bc", "cd", "da")
    assert match(graph(*ring), graph("bd", "dc", "ca", "ab")) is not None
    reason = why_not(
        graph("ab", "bc", "ca", "de", "ef", "fd"), graph("ab", "bc", "cd", "de", "ef", "fa")
    )
    assert (
        reason
        == "Its nodes are linked in another way: there is no pairing of nodes under which links meet links."
    )
