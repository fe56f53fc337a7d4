"""How much less does easeml spend than users did before, whatever the order by citations or by date
really was?

    python benchmarks/search_headline.py [--seeds 30]

The paper's headline (Li et al., PVLDB 2018: up to 9.8 times) compares with networks in the order of
their citations and of their dates, neither of which it prints. The beginnings of both are known
from the files of its prototype; here all orders that begin so are played, on the same draws as in
``search_policies.py`` (10 tenants, one device, measured costs), and the least, the median and the
largest ratio of the costs to each loss level is told, with the ratio of the order that easeml's
policies take.
"""

import csv
from collections.abc import Iterable, Iterator
from itertools import islice, permutations

import numpy as np

from common import arguments, machine_line, read_options
from easeml.cli.workload_files import read_workload
from easeml.search import Policy
from easeml.search.policies.popularity import MostCited, MostRecent
from easeml.search.simulator import LEVELS, Curve, Setting, belief, compare, draw, one_run

KNOWN = {
    "most-cited": ("AlexNet", "VGG-16"),
    "most-recent": ("SqueezeNet", "BN-AlexNet", "ResNet-50"),
}
"""How the orders begin in the prototype's files ``cited_first`` and ``latest_first``, among the
paper's 8 networks.
"""

TAKEN = "the order easeml takes"


def orders(models: tuple[str, ...], first: tuple[str, ...]) -> Iterator[dict[str, float]]:
    """Give every order of the models that begins with ``first``, as a rank each, the highest first."""
    for rest in permutations(sorted(set(models) - set(first))):
        yield {model: float(-place) for place, model in enumerate((*first, *rest))}


def policies(models: tuple[str, ...], most: int | None) -> Iterator[tuple[str, str, Policy]]:
    """Give each rule, the name of its order, and the policy; at most so many orders a rule."""
    for rule, kind in (("most-cited", MostCited), ("most-recent", MostRecent)):
        yield rule, TAKEN, kind()
        for ranks in islice(orders(models, KNOWN[rule]), most):
            yield rule, " ".join(sorted(ranks, key=ranks.__getitem__, reverse=True)), kind(ranks)


def mean_costs(curves: Iterable[Curve]) -> np.ndarray:
    """Return the mean share of all costs until the average loss is at each level."""
    return np.mean([[each.share_to(level) for level in LEVELS] for each in curves], axis=0)


def main() -> None:
    """Print the table."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--workload", default="workload_easeml_deeplearning")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--orders", type=int, help="only so many orders of each rule")
    options = read_options(parser, seeds=1, orders=2)
    print(machine_line("numpy"))
    workload, _ = read_workload(options.data / options.workload)
    setting = Setting(seeds=options.seeds, first_seed=options.first_seed)
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    draws = [(*draw(workload, setting, seed), seed) for seed in seeds]
    own = mean_costs(compare(workload, ["default"], setting).curves["default"])
    ratios: dict[tuple[str, str], np.ndarray] = {}
    for rule, order, policy in policies(workload.models, options.orders):
        curves = (
            one_run(work, policy, belief(past, work.models, own=False), 1, seed)
            for past, work, seed in draws
        )
        ratios[rule, order] = mean_costs(curves) / own
    with (options.out / "ratios.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["rule", "order", *LEVELS])
        writer.writerows([*key, *values.round(3)] for key, values in ratios.items())
    print(
        f"{options.seeds} draws of 10 tenants, one device; cost beside the default's, to average losses {LEVELS}"
    )
    for rule, first in KNOWN.items():
        every = np.array(
            [
                values
                for (named, order), values in ratios.items()
                if named == rule and order != TAKEN
            ]
        )
        print(f"\n{rule}: {len(every)} orders that begin with {', '.join(first)}")
        lines = {
            TAKEN: ratios[rule, TAKEN],
            "least": every.min(0),
            "median": np.median(every, 0),
            "most": every.max(0),
        }
        for title, values in lines.items():
            print(f"{title:<24}" + "".join(f"{value:8.1f}" for value in values))


if __name__ == "__main__":
    main()
