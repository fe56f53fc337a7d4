"""Conditions and formulas over columns: a small language that is parsed, never executed.

It looks like Python: ``alcohol > 12 and color == 'red'``, ``price * amount``, ``0 < x <= 1``,
``country in ['CH', 'AT']``, ``x is None``, ``lower(name)``. Names in backticks may hold blanks.
A missing value makes a comparison neither true nor false, as in SQL.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol

import pyarrow as pa

from easeml.data.errors import did_you_mean
from easeml.data.types.arrow import arrow_compute
from easeml.errors import InvalidInput

_QUOTED = re.compile(r"`([^`]+)`")
_STAND_IN = "_quoted_{}_"
_BINARY = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide"}
_COMPARISONS = {
    ast.Eq: "equal",
    ast.NotEq: "not_equal",
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
}
_NEGATED = (ast.IsNot, ast.NotIn)
_LOGIC = {ast.And: "and_kleene", ast.Or: "or_kleene", ast.BitAnd: "and_kleene"}
_LOGIC |= {ast.BitOr: "or_kleene"}
_FUNCTIONS = {
    "abs": "abs",
    "log": "ln",
    "exp": "exp",
    "sqrt": "sqrt",
    "round": "round",
    "lower": "utf8_lower",
    "upper": "utf8_upper",
    "length": "utf8_length",
}
Columns = Mapping[str, pa.Array]


class Condition(Protocol):
    """What a row may meet: ``columns`` that it reads, and ``holds`` of their values."""

    @property
    def columns(self) -> Sequence[str]: ...

    def holds(self, columns: Columns, rows: int) -> pa.Array: ...


class Formula(Protocol):
    """What gives a value for each row: ``columns`` that it reads, and ``evaluate`` of their values."""

    @property
    def columns(self) -> Sequence[str]: ...

    def evaluate(self, columns: Columns, rows: int) -> pa.Array: ...


@dataclass(frozen=True)
class Equals:
    """The condition that a column has a value."""

    column: str
    value: Any

    @property
    def columns(self) -> Sequence[str]:
        """The column."""
        return (self.column,)

    def holds(self, columns: Columns, rows: int) -> pa.Array:
        """Return whether it is so in each row; not where the cell is missing."""
        cells = columns[self.column]
        same = arrow_compute().equal(cells, pa.scalar(self.value, cells.type))
        return arrow_compute().fill_null(same, False)


@dataclass(frozen=True)
class Tested:
    """The condition that a function of a pandas frame says, with a truth for each row."""

    function: Callable[[Any], Any]
    columns: Sequence[str]

    def holds(self, columns: Columns, rows: int) -> pa.Array:
        """Return what the function says. Raises InvalidInput."""
        import numpy as np
        import pandas as pd

        frame = pd.DataFrame({name: cells.to_pandas() for name, cells in columns.items()})
        truth = np.asarray(self.function(frame))
        if truth.shape != (rows,):
            raise InvalidInput(
                f"The condition gives an answer of shape {truth.shape} for {rows} rows.",
                where="condition",
                remedy="Return a truth for each row of the frame.",
            )
        return pa.array(truth.astype(bool))


@dataclass(frozen=True)
class Expression:
    """A parsed condition or formula. ``columns``: the names it reads, in order."""

    text: str
    columns: tuple[str, ...]
    _tree: ast.expr
    _names: Mapping[str, str]

    def evaluate(self, columns: Columns, rows: int) -> pa.Array:
        """Return its value in each of ``rows`` rows. Raises InvalidInput, saying what failed."""
        try:
            value = _Evaluation(columns, self._names).value(self._tree)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
            raise InvalidInput(
                f"cannot be computed: {error}.",
                where=repr(self.text),
                remedy="Compare numbers with numbers and text with text.",
            ) from error
        if isinstance(value, pa.Scalar):
            return pa.repeat(value, rows)
        if isinstance(value, pa.ChunkedArray):
            return value.combine_chunks()
        return value

    def holds(self, columns: Columns, rows: int) -> pa.Array:
        """Return whether it is true in each row; not where it is unknown. Raises InvalidInput."""
        truth = self.evaluate(columns, rows)
        if not pa.types.is_boolean(truth.type):
            raise InvalidInput(
                "is not a condition.", where=repr(self.text), remedy="Write one such as 'x > 8'."
            )
        return arrow_compute().fill_null(truth, False)


def parse(text: str) -> Expression:
    """Read a condition or a formula. Raises InvalidInput, with the place."""
    names: dict[str, str] = {}

    def stand_in(found: re.Match[str]) -> str:
        name = _STAND_IN.format(len(names))
        names[name] = found[1]
        return name

    plain = _QUOTED.sub(stand_in, text.strip())
    try:
        tree = ast.parse(plain, mode="eval").body
    except SyntaxError as error:
        raise InvalidInput(
            "is not a condition or formula.",
            where=f"{text!r}, character {error.offset}",
            remedy="Write it as in Python, such as 'x == 1 and y > 2'; quote names by backticks.",
        ) from error
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    read = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and id(node) not in functions:
            read[names.get(node.id, node.id)] = None
    return Expression(text.strip(), tuple(read), tree, names)


class _Evaluation:
    """Values of the parts of an expression; one method a kind of part."""

    def __init__(self, columns: Columns, names: Mapping[str, str]):
        self._columns = columns
        self._names = names
        self._compute = arrow_compute()
        self._methods: dict[type[ast.AST], Callable[[Any], Any]] = {
            ast.Name: self._name,
            ast.Constant: self._constant,
            ast.List: self._list,
            ast.Tuple: self._list,
            ast.UnaryOp: self._unary,
            ast.BinOp: self._binary,
            ast.BoolOp: self._logic,
            ast.Compare: self._compare,
            ast.Call: self._function,
        }

    def value(self, node: ast.AST) -> Any:
        method = self._methods.get(type(node))
        if method is None:
            raise InvalidInput(
                f"{ast.unparse(node)!r} cannot stand in a condition or formula.",
                remedy=f"Use columns, numbers, text, arithmetic, comparisons, and, or, not, in, "
                f"{', '.join(_FUNCTIONS)}.",
            )
        return method(node)

    def _name(self, node: ast.Name) -> Any:
        name = self._names.get(node.id, node.id)
        if name not in self._columns:
            remedy = did_you_mean(name, self._columns)
            raise InvalidInput("There is no such column.", where=f"column {name!r}", remedy=remedy)
        return self._columns[name]

    def _constant(self, node: ast.Constant) -> Any:
        return pa.scalar(node.value)

    def _list(self, node: ast.List) -> Any:
        return pa.array(list(map(ast.literal_eval, node.elts)))

    def _unary(self, node: ast.UnaryOp) -> Any:
        operand = self.value(node.operand)
        if isinstance(node.op, ast.Not | ast.Invert):
            return self._compute.invert(operand)
        if isinstance(node.op, ast.USub):
            return self._compute.negate(operand)
        return operand

    def _binary(self, node: ast.BinOp) -> Any:
        left = self.value(node.left)
        right = self.value(node.right)
        kind = type(node.op)
        if kind in _LOGIC:
            return self._call(_LOGIC[kind], left, right)
        if kind not in _BINARY:
            raise InvalidInput(f"{ast.unparse(node)!r} has an operator that is not known.")
        if kind is ast.Div:  # whole numbers divide to numbers, as in Python
            left = left.cast(pa.float64())
        return self._call(_BINARY[kind], left, right)

    def _logic(self, node: ast.BoolOp) -> Any:
        parts = list(map(self.value, node.values))
        name = _LOGIC[type(node.op)]
        return reduce(lambda left, right: self._call(name, left, right), parts)

    def _compare(self, node: ast.Compare) -> Any:
        operands = [node.left, *node.comparators]
        truths = []
        for left, kind, right in zip(operands, node.ops, operands[1:], strict=False):
            truths.append(self._compared(left, kind, right))
        return reduce(lambda first, second: self._call("and_kleene", first, second), truths)

    def _compared(self, left: ast.expr, kind: ast.cmpop, right: ast.expr) -> Any:
        value = self.value(left)
        if isinstance(kind, ast.Is | ast.IsNot):
            truth = self._compute.is_null(value)
        elif isinstance(kind, ast.In | ast.NotIn):
            choices = self.value(right).cast(value.type)
            truth = self._compute.is_in(value, value_set=choices)
        else:
            truth = self._call(_COMPARISONS[type(kind)], value, self.value(right))
        return self._compute.invert(truth) if isinstance(kind, _NEGATED) else truth

    def _function(self, node: ast.Call) -> Any:
        name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
        if name not in _FUNCTIONS or len(node.args) != 1 or node.keywords:
            known = ", ".join(_FUNCTIONS)
            raise InvalidInput(
                f"There is no function {name!r} of one argument.", remedy=f"Use {known}."
            )
        return self._call(_FUNCTIONS[name], self.value(node.args[0]))

    def _call(self, name: str, *values: Any) -> Any:
        return getattr(self._compute, name)(*values)
