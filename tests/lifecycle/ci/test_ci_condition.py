"""The condition language: what it accepts, what it means, where it points when it does not
understand.
"""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.errors import InvalidInput
from easeml.lifecycle.ci import Both, Clause, Either, clauses, evaluate, parse


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("n - o > 0.02 +/- 0.01", "n - o > 0.02 +/- 0.01"),
        ("n > o + 5% ± 1%", "n - o > 0.05 +/- 0.01"),
        ("n > o + 2,5 % ± 0,5%", "n - o > 0.025 +/- 0.005"),
        ("n - o > 0,02 +/- ,01", "n - o > 0.02 +/- 0.01"),
        ("n + n - o > 1 +/- .1", "2 * n - o > 1 +/- 0.1"),
        ("-n < -5e-1 +/- 0.1", "-n < -0.5 +/- 0.1"),
        ("2 * (n - 1.1 * o) >= 0.01 +/- 0.01", "2 * n - 2.2 * o > 0.01 +/- 0.01"),
        ("0.1*n + 0.2*n - 0.3*n + d < 0.1 +/- 0.01", "d < 0.1 +/- 0.01"),
        (
            "n>.8+/-.1 or d<.1+/-.01 and o>.5+/-.1",
            "n > 0.8 +/- 0.1 \\/ d < 0.1 +/- 0.01 /\\ o > 0.5 +/- 0.1",
        ),
        (
            "(n>.8+/-.1 || d<.1+/-.01) && o>.5+/-.1",
            "(n > 0.8 +/- 0.1 \\/ d < 0.1 +/- 0.01) /\\ o > 0.5 +/- 0.1",
        ),
    ],
)
def test_text_is_read_and_written(text: str, shown: str) -> None:
    formula = parse(text)
    assert str(formula) == shown
    assert parse(shown) == formula


@pytest.mark.parametrize(
    ("text", "column", "problem"),
    [
        ("n > 0.5", 8, "tolerance is missing"),
        ("n > 0.5 +/- 0", 13, "above 0"),
        ("n > 0.5 +/- -0.1", 13, "above 0"),
        ("n*o > 1 +/- .1", 2, "multiplied"),
        ("m > 1 +/- .1", 1, "'m' is not known"),
        ("n / 2 > 1 +/- .1", 3, "'/' is not understood"),
        ("(n > .5 +/- .1", 1, "not closed"),
        ("n > .5 +/- .1 d < 1 +/- .1", 15, "not expected"),
        ("n - n > 0 +/- .1", 1, "says nothing"),
        ("n >", 4, "missing"),
        ("n > 1e999 +/- .1", 5, "too large"),
        ("n > nan +/- .1", 5, "not known"),
        ("o - n > 1,500 +/- 1", 9, "may mean 1500 or 1.500"),
        ("n > .5 +/- .1 /\\", 17, "missing"),
        ("(" * 300, 42, "missing"),
        ("n > (" + "-" * 300 + "x) +/- 1", 306, "'x' is not known"),
    ],
)
def test_errors_point_at_the_column(text: str, column: int, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem) as error:
        parse(text)
    assert error.value.where == f"condition, column {column}"


@pytest.mark.parametrize("text", ["", "  ", "n" * 3000])
def test_empty_and_endless_texts_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse(text)


_CLAUSES = st.builds(
    lambda weights, above, threshold, tolerance: Clause(
        *weights, above, threshold / 100, tolerance / 100
    ),
    st.tuples(*[st.integers(-3, 3).map(float)] * 3).filter(any),
    st.booleans(),
    st.integers(-99, 99),
    st.integers(1, 50),
)
_FORMULAS = st.recursive(
    _CLAUSES,
    lambda parts: st.builds(
        lambda join, several: join(tuple(several)),
        st.sampled_from([Both, Either]),
        st.lists(parts, min_size=2, max_size=3),
    ),
    max_leaves=5,
)


def _flat(formula):
    """Merge a conjunction in a conjunction, as reading does."""
    if isinstance(formula, Clause):
        return formula
    parts = [_flat(part) for part in formula.parts]
    merged = [
        leaf
        for part in parts
        for leaf in (part.parts if isinstance(part, type(formula)) else (part,))
    ]
    return type(formula)(tuple(merged))


@given(_FORMULAS)
def test_what_is_written_is_read_back(formula) -> None:
    assert parse(str(formula)) == _flat(formula)


@given(_FORMULAS, st.randoms(use_true_random=False))
def test_three_values_are_kleene(formula, random) -> None:
    """Unknown means: both values can still come out, whatever the open clauses turn out to be."""
    found = list(clauses(formula))
    values = [random.choice([True, False, None]) for _ in found]
    places = iter(range(len(found)))
    order = {id(clause): next(places) for clause in found}
    known = evaluate(formula, lambda clause: values[order[id(clause)]])
    unknown = [place for place, value in enumerate(values) if value is None]
    outcomes = set()
    for choice in itertools.product([True, False], repeat=len(unknown)):
        filled = list(values)
        for place, value in zip(unknown, choice, strict=True):
            filled[place] = value
        outcomes.add(evaluate(formula, lambda clause, filled=filled: filled[order[id(clause)]]))
    assert known in (outcomes if len(outcomes) == 1 else {None})
