"""Tables of every model's quality and cost for every tenant, and their split into past and test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.search.checks import require

LEAST_UNIFORM, MOST_UNIFORM = 0.05, 1.0  # bounds of the random costs, in seconds


@dataclass(frozen=True, eq=False)
class Workload:
    """What every model would reach for every tenant, and at what cost.

    ``quality`` (n, K) in [0, 1], NaN where a model fails; ``cost`` (n, K) in device seconds, above
    0.

    ``tenants`` and ``models`` are their names. Raises ``InvalidInput`` where shapes do not agree, a
    tenant has no quality at all, or a number is out of range.
    """

    quality: np.ndarray
    cost: np.ndarray
    tenants: tuple[str, ...]
    models: tuple[str, ...]

    def __post_init__(self) -> None:
        quality = np.array(self.quality, dtype=float)
        cost = np.array(self.cost, dtype=float)
        shape = (len(self.tenants), len(self.models))
        require(
            quality.shape == cost.shape == shape,
            f"Qualities {quality.shape}, costs {cost.shape}, but {shape} names.",
            where="workload",
        )
        is_share = (quality >= 0) & (quality <= 1)
        require(
            (is_share | np.isnan(quality)).all(),
            "Qualities must lie in [0, 1]; leave empty where a model failed.",
            where="workload",
        )
        require(
            ((cost > 0) & (cost < np.inf)).all(),
            "Costs must be numbers above 0.",
            where="workload",
        )
        empty = np.flatnonzero(np.isnan(quality).all(axis=1))
        if empty.size:
            raise InvalidInput(
                "No model succeeds.",
                where=f"tenant {self.tenants[empty[0]]!r}",
            )
        object.__setattr__(self, "quality", quality)
        object.__setattr__(self, "cost", cost)

    @property
    def best(self) -> np.ndarray:
        """The best quality (n,) that any model reaches for each tenant."""
        return np.nanmax(self.quality, axis=1)

    def of(self, tenants: np.ndarray) -> "Workload":
        """Return the rows of some tenants (indices)."""
        names = tuple(self.tenants[i] for i in tenants.tolist())
        return Workload(self.quality[tenants], self.cost[tenants], names, self.models)

    @classmethod
    def from_tables(cls, quality: Mapping[str, Any], cost: Mapping[str, Any] | None) -> "Workload":
        """Return the workload of ``{"tenants", "models", "values"}`` tables.

        A missing cost is its model's median.

        Without a cost table every cost is 1 until ``uniform_costs`` draws them. Raises
        ``InvalidInput`` where the tables disagree.
        """
        tenants = tuple(quality["tenants"])
        models = tuple(quality["models"])
        values = np.array(quality["values"], dtype=float)
        if cost is None:
            return cls(values, np.ones_like(values), tenants, models)
        rows = _places(cost["tenants"], tenants, "tenant")
        columns = _places(cost["models"], models, "model")
        seconds = np.array(cost["values"], dtype=float)[np.ix_(rows, columns)]
        without_any = np.isnan(seconds).all(axis=0)
        require(
            not without_any.any(),
            "A model has no cost at all.",
            where=models[int(without_any.argmax())],
        )
        return cls(
            values,
            np.where(np.isnan(seconds), np.nanmedian(seconds, axis=0), seconds),
            tenants,
            models,
        )


def uniform_costs(workload: Workload, generator: np.random.Generator) -> Workload:
    """Return the workload with costs drawn evenly from [0.05, 1) seconds.

    Every tenant and model has its own.
    """
    cost = generator.uniform(LEAST_UNIFORM, MOST_UNIFORM, workload.quality.shape)
    return Workload(workload.quality, cost, workload.tenants, workload.models)


def split(
    workload: Workload, tenants: int, generator: np.random.Generator
) -> tuple[np.ndarray, Workload]:
    """Return the qualities of the past tenants, and the workload of ``tenants`` drawn ones.

    The drawn ones are left out of the past.

    Raises ``InvalidInput`` unless there are that many tenants.
    """
    count = len(workload.tenants)
    require(
        1 <= tenants <= count,
        f"{tenants} tenants under test of {count}.",
        where="tenants",
        remedy=f"Choose 1 to {count}.",
    )
    order = generator.permutation(count)
    return workload.quality[order[tenants:]], workload.of(order[:tenants])


def synthetic(
    model_sd: float,
    alpha: float,
    generator: np.random.Generator,
    tenants: int = 200,
    models: int = 100,
) -> Workload:
    """Return SYN(sigma_M, alpha) of Li et al., Ease.ml (PVLDB 2018), section 5.1.

    Its costs are as of ``uniform_costs``.

    Quality = base of the tenant + ``alpha`` x (fluctuation of the model, the same kind of tenants
    alike), clipped to [0, 1]: bases are normal around 0.5 or 0.7, fluctuations a Gaussian process
    over models that lie evenly in [0, 1], with the length ``model_sd``.
    """
    base = generator.normal(generator.choice([0.5, 0.7], tenants), 0.1)
    places = generator.random(models)
    kernel = np.exp(
        -((places[:, None] - places[None, :]) ** 2) / (2 * model_sd**2)
    ) + 1e-9 * np.eye(models)
    fluctuation = generator.normal(size=(tenants, models)) @ np.linalg.cholesky(kernel).T
    quality = np.clip(base[:, None] + alpha * 0.1 * fluctuation, 0, 1)
    names = tuple(f"tenant-{i}" for i in range(tenants))
    return uniform_costs(
        Workload(quality, np.ones_like(quality), names, tuple(f"model-{k}" for k in range(models))),
        generator,
    )


def _places(names: Sequence[str], wanted: Sequence[str], kind: str) -> list[int]:
    known = {name: place for place, name in enumerate(names)}
    missing = [name for name in wanted if name not in known]
    if missing:
        raise InvalidInput(
            f"The cost table has no {kind} {missing[0]!r}.",
            where="costs",
        )
    return [known[name] for name in wanted]
