"""The front: what no other is at least as good as in all, and better in one."""

from hypothesis import given
from hypothesis import strategies as st

from easeml.lifecycle.pareto import front

ROWS = st.lists(st.tuples(*[st.integers(0, 4)] * 3), max_size=25)
WAYS = st.tuples(*[st.booleans()] * 3)


@given(rows=ROWS, lower=WAYS)
def test_the_front_is_that_of_the_definition(
    rows: list[tuple[int, int, int]], lower: tuple[bool, bool, bool]
) -> None:
    def is_beaten(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
        as_good = True
        better = False
        for mine, theirs, less in zip(one, other, lower, strict=True):
            as_good &= theirs <= mine if less else theirs >= mine
            better |= theirs < mine if less else theirs > mine
        return as_good and better

    expected = [not any(is_beaten(one, other) for other in rows) for one in rows]
    assert front(rows, lower) == expected
    assert not rows or any(expected)
