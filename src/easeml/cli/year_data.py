"""The rows of a simulated year: what a chain of shops sells, day by day.

What makes a good day changes with the season: in winter it is the visitors, except in the harbour
shop, where it is the other way round; in summer it is the price. Nothing in a row names the season.
Advertising doubles in June and stays so; it has no effect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

TARGET = "sales"
NOISE = 0.05  # share of the days that turned out otherwise: nobody is right more often
_SHOPS = ("harbour", "market", "station")
_SUMMER = range(6, 10)  # months, June to September
_ADVERTISED = 6  # from this month on there is twice as much advertising


def month_of_rows(month: int, count: int, seed: int) -> pd.DataFrame:
    """Return ``count`` labelled rows of a month; 0 is the December before the year, 12 its own.

    The same arguments give the same rows.
    """
    import pandas as pd

    random = np.random.default_rng([seed, month])
    visitors = random.normal(100, 20, size=count)
    price = random.normal(10, 2, size=count)
    shop = random.choice(_SHOPS, size=count)
    level = 6.0 if month >= _ADVERTISED else 3.0
    adverts = random.normal(level, 1.0, size=count)
    if month in _SUMMER:
        is_high = price < 10
    else:
        is_high = (visitors > 100) != (shop == "harbour")
    is_high ^= random.random(count) < NOISE
    return pd.DataFrame(
        {
            "visitors": visitors.round(1),
            "price": price.round(2),
            "adverts": adverts.round(2),
            "shop": shop,
            TARGET: np.where(is_high, "high", "low"),
        }
    )


def broken_counter(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return rows of October as they were noted, and as they were.

    The harbour shop has 200 days, on all of which its counter of visitors said 0.
    """
    import pandas as pd

    rows = month_of_rows(10, 2000, seed)
    is_harbour = (rows["shop"] == "harbour").to_numpy()
    harbour, others = rows[is_harbour].iloc[:200], rows[~is_harbour].iloc[:800]
    true = pd.concat([others, harbour]).sample(frac=1.0, random_state=seed)
    true = true.reset_index(drop=True)
    seen = true.copy()
    seen.loc[(true["shop"] == "harbour").to_numpy(), "visitors"] = 0.0
    return seen, true


def with_wrong_labels(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the harbour shop with each label turned round: a till that mixes them up."""
    wrong = rows.loc[rows["shop"] == "harbour", :].copy()
    wrong[TARGET] = np.where(wrong[TARGET] == "high", "low", "high")
    return wrong
