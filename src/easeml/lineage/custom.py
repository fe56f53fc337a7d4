"""How people add operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from easeml.errors import Conflict
from easeml.lineage.fingerprints import function_digest
from easeml.lineage.nodes import Value
from easeml.lineage.operators import SHIPPED, register
from easeml.lineage.staged import staged_call


@overload
def operator(function: Callable[..., Value]) -> Callable[..., Any]: ...
@overload
def operator(
    *, name: str = "", version: str = "1"
) -> Callable[[Callable[..., Value]], Callable[..., Any]]: ...
def operator(
    function: Callable[..., Value] | None = None, *, name: str = "", version: str = "1"
) -> Any:
    """Make an operator of a function of relations, whose parameters have plain values.

    The function gets evaluated relations first and gives a relation, or JSON values. What is made
    of it is called with the same arguments, but only appends to the graph. Its code belongs to its
    key; raise ``version`` where something that it calls has changed. What it draws by chance has to
    come from a parameter, such as ``seed``.

        @easeml.lineage.operator
        def cheap(relation, most=10):
            return relation.filter(f"price <= {most}")

        cheap(wines, most=20).eval()
    """

    def made_of(function: Callable[..., Value]) -> Callable[..., Any]:
        title = name or function.__name__
        if title in SHIPPED:
            raise Conflict(f"easeml has an operator {title!r}.", remedy="Choose another name.")
        whole = f"{version} {function_digest(function)}"
        return staged_call(register(title, whole, function))

    if function is None:
        return made_of
    return made_of(function)
