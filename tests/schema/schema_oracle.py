"""An independent judge of matches: tries everything, rule by rule, and shares no code with the
matcher.
"""

from itertools import permutations, product

from easeml.schema import Field, Match, Node, Schema

LONGEST = 6  # dims that a wildcard of a small schema may stand for


def lists_of(dims: tuple[int | str, ...], longest: int = LONGEST) -> list[tuple[int | str, ...]]:
    """Every list without wildcards that a list of dims stands for, up to a length."""
    parts = []
    for dim in dims:
        name, sign = (dim[:-1], dim[-1]) if isinstance(dim, str) and dim[-1] in "?+*" else (dim, "")
        times = {"": [1], "?": [0, 1], "+": range(1, longest + 1), "*": range(longest + 1)}[sign]
        parts.append([(name,) * count for count in times])
    return [sum(choice, ()) for choice in product(*parts)]


def size_of(schema: Schema, value: Field) -> tuple[int | str, ...]:
    return (schema.classes[value.class_name].dim,) if value.type == "category" else value.dim


def agreements(wanted: Schema, slot: Field, source: Schema, item: Field) -> list[dict[str, object]]:
    """Every way in which a value is taken: what its variables and its class (key "class x") become."""
    if slot.type != item.type or (item.optional and not slot.optional):
        return []
    found = []
    for left, right in product(lists_of(size_of(wanted, slot)), lists_of(size_of(source, item))):
        bound: dict[str, object] = (
            {f"class {slot.class_name}": item.class_name} if slot.type == "category" else {}
        )
        if len(left) == len(right) and all(
            (bound.setdefault(a, b) if isinstance(a, str) else a) == b
            for a, b in zip(left, right, strict=True)
        ):
            found.append(bound)
    return found


def together(choices: list[list[dict[str, object]]], bound: dict[str, object]) -> bool:
    """Whether one of each can be chosen so that all agree."""
    if not choices:
        return True
    for choice in choices[0]:
        if all(bound.get(key, value) == value for key, value in choice.items()) and together(
            choices[1:], {**bound, **choice}
        ):
            return True
    return False


def flags_allow(wanted: Schema, source: Schema) -> bool:
    if all(node.singleton for node in wanted.nodes.values()):
        return True
    ours, theirs = wanted.constraints, source.constraints
    return (
        (ours.cyclic or not theirs.cyclic)
        and (theirs.undirected or not ours.undirected)
        and (ours.fan_in or not theirs.fan_in)
    )


def links_allow(wanted: Schema, source: Schema, image: dict[str, str]) -> bool:
    """``image``: destination node -> source node."""
    for name, node in wanted.nodes.items():
        theirs = {link.target: link for link in source.nodes[image[name]].links}
        if len(theirs) != len(node.links):
            return False
        for link in node.links:
            other = theirs.get(image[link.target])
            if other is None or other.lower < link.lower:
                return False
            if link.upper is not None and (other.upper is None or other.upper > link.upper):
                return False
    return True


def pairings(slot: Node, item: Node) -> list[list[tuple[Field, Field]]]:
    """Every way to pair the values of two nodes."""
    if slot.singleton != item.singleton or len(slot.values) != len(item.values):
        return []
    if sorted(v.type for v in slot.values) != sorted(v.type for v in item.values):
        return []
    return [list(zip(slot.values, order, strict=True)) for order in permutations(item.values)]


def exists(*sides: tuple[Schema, Schema]) -> bool:
    """Whether there is a match, by trying every map of nodes and values. Without repeated nodes;
    small schemas only.

    Several sides share variables, but not classes.
    """
    if not all(flags_allow(*side) and len(side[0].nodes) == len(side[1].nodes) for side in sides):
        return False
    per_side = []
    for wanted, source in sides:
        images = [
            dict(zip(wanted.nodes, order, strict=True)) for order in permutations(source.nodes)
        ]
        per_side.append([image for image in images if links_allow(wanted, source, image)])
    for images in product(*per_side):
        options = [
            [(number, pairing) for pairing in pairings(wanted.nodes[slot], source.nodes[item])]
            for number, ((wanted, source), image) in enumerate(zip(sides, images, strict=True))
            for slot, item in image.items()
        ]
        for chosen in product(*options):
            choices = [
                [
                    {
                        (f"{number} {key}" if key.startswith("class ") else key): value
                        for key, value in bound.items()
                    }
                    for bound in agreements(sides[number][0], slot, sides[number][1], item)
                ]
                for number, pairing in chosen
                for slot, item in pairing
            ]
            if all(choices) and together(choices, {}):
                return True
    return False


def holds(wanted: Schema, source: Schema, found: Match) -> bool:
    """Whether a match is what it claims to be. Without repeated nodes."""
    image = {place: name for name, place in found.nodes.items()}
    if not flags_allow(wanted, source) or sorted(image) != sorted(wanted.nodes):
        return False
    if sorted(found.nodes) != sorted(source.nodes) or not links_allow(wanted, source, image):
        return False
    claimed: dict[str, object] = {
        **{f"class {k}": v for k, v in found.classes.items()},
        **found.variables,
    }
    used: set[str] = set()
    for slot, item in image.items():
        node, other = wanted.nodes[slot], source.nodes[item]
        if node.singleton != other.singleton:
            return False
        pairs = [(node, other)]
        if not node.singleton:
            origin = {place: name for name, place in found.fields[item].items()}
            given = {value.name: value for value in other.fields}
            if sorted(origin) != sorted(v.name for v in node.fields) or sorted(
                origin.values()
            ) != sorted(given):
                return False
            pairs = [(value, given[origin[value.name]]) for value in node.fields]
        for value, theirs in pairs:
            ways = agreements(wanted, value, source, theirs)
            fitting = [
                way
                for way in ways
                if all(claimed.get(key, bound) == bound for key, bound in way.items())
            ]
            if not fitting:
                return False
            used |= set().union(*fitting)
    return set(claimed) <= used
