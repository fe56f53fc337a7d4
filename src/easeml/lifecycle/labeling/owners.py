"""What several owners of data contribute, and how a budget is shared among them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.labeling.inputs import Task, check_labels, check_task
from easeml.lifecycle.labeling.knn import Game
from easeml.lifecycle.labeling.units import integrated_values
from easeml.lifecycle.result import Progress, Result, listener

if TYPE_CHECKING:
    import pandas as pd

    from easeml.figures import Figure

_BATCHES = 20


@dataclass(frozen=True)
class Contributions(Result):
    """What each owner contributes, the most valuable first: tuples and arrays of equal length.

    ``values`` sum to what all data is worth; ``shares`` are those of the positive values, and of
    the ``budget``, ``payments``. ``standard_errors`` are over validation rows, NaN for fewer than
    2. ``players`` says whether rows or whole owners were valued.
    """

    owners: tuple[str, ...]
    rows: np.ndarray
    values: np.ndarray
    standard_errors: np.ndarray
    shares: np.ndarray
    payments: np.ndarray
    budget: float
    players: str

    @property
    def advice(self) -> str:
        best = f"{self.owners[0]} contributes most ({self.shares[0]:.0%} of the payments)."
        harmful = [name for name, value in zip(self.owners, self.values, strict=True) if value < 0]
        if harmful:
            return (
                f"{best} Check the labels of {', '.join(harmful)}: "
                "this data lowers the quality, and is paid nothing."
            )
        per_row = self.values / self.rows
        richest = self.owners[int(per_row.argmax())]
        return (
            f"{best} A further row is worth most, on average, from {richest}: ask there for more."
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row an owner, the most valuable first."""
        import pandas as pd

        names = ("owners", "rows", "values", "standard_errors", "shares", "payments")
        heads = ("owner", "rows", "value", "standard_error", "share", "payment")
        return pd.DataFrame(
            {head: getattr(self, name) for head, name in zip(heads, names, strict=True)}
        )

    def figure(self) -> Figure:
        """Return the values of the owners with two standard errors."""
        from easeml.figures.labeling import contributions

        return contributions(self.to_json())


def contributions(
    X: Any,
    y: Any,
    owners: Any,
    X_valid: Any,
    y_valid: Any,
    k: int = 5,
    *,
    players: str = "owners",
    budget: float = 1.0,
    metric: str = "euclidean",
    progress: Progress | None = None,
) -> Contributions:
    """Return the value of each owner's rows, and what a budget pays for them.

    Args:
        X: Training rows (n, d).
        y: Their labels (n,).
        owners: The owner of each row (n,).
        X_valid: Validation rows (t, d).
        y_valid: Their labels (t,).
        k: Neighbours that vote.
        players: 'owners': an owner gives all rows or none (Jia et al., PVLDB 2019, Section 4.3; here exact for any k);
            'rows': the sum of the values of an owner's rows, each a player of its own. The first is fair between
            owners, but changes little when an owner splits; the second is cheaper for many owners.
        budget: What is paid in all, in proportion to the positive values, at least 0.
        metric: 'euclidean' or 'cosine'.
        progress: Called with the share of the work that is done.

    Raises:
        InvalidInput: if the inputs do not fit each other, are empty or not finite.
    """
    task = check_task(X, y, X_valid, y_valid, k, metric)
    names, codes = np.unique(
        check_labels(owners, len(task.X), "owners").astype(str), return_inverse=True
    )
    if not 0 <= budget < np.inf:
        raise InvalidInput(f"Expected a number of at least 0, found {budget!r}.", where="budget")
    if players not in ("owners", "rows"):
        raise InvalidInput(
            f"There are no players {players!r}.", where="players", remedy="Use 'owners' or 'rows'."
        )
    values, errors = _by_owner(task, codes, len(names), players, progress)
    positive = np.maximum(values, 0.0)
    shares = positive / positive.sum() if positive.sum() > 0 else np.zeros(len(values))
    order = np.argsort(-values, kind="stable")
    return Contributions(
        tuple(names[order].tolist()), np.bincount(codes, minlength=len(names))[order], values[order], errors[order],
        shares[order], (shares * budget)[order], float(budget), players,
    )  # fmt: skip


def _by_owner(
    task: Task, codes: np.ndarray, n_owners: int, players: str, progress: Progress | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return values (owners,) and standard errors from batches of validation rows."""
    tell = listener(progress)
    t = len(task.X_valid)
    shuffled = np.random.default_rng(0).permutation(t)
    batches = np.array_split(shuffled, min(_BATCHES, t))
    found = np.empty((len(batches), n_owners))
    for number, part in enumerate(batches):
        some = replace(task, X_valid=task.X_valid[part], y_valid=task.y_valid[part])
        if players == "rows":
            found[number] = np.bincount(codes, Game(some).exact()[0], minlength=n_owners)
        else:
            found[number] = integrated_values(some, codes, None, n_owners)
        tell((number + 1) / len(batches))
    weights = np.array(list(map(len, batches))) / t
    values = weights @ found
    if len(batches) < 2:
        return values, np.full(n_owners, np.nan)
    spread = (weights[:, None] * (found - values) ** 2).sum(axis=0)
    return values, np.sqrt(spread / (len(batches) - 1))
