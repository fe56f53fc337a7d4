"""Optuna's tree-structured Parzen estimator."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from easeml.search import spaces
from easeml.search.optimizers.base import Tried, fresh
from easeml.search.spaces import Choice, Config, Number

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import Trial


class TPE:
    """Draws configurations where good ones are denser than bad ones.

    Conditional parameters are drawn only where they apply.

    Source: Bergstra et al., Algorithms for hyper-parameter optimization (NeurIPS 2011), as in
    Optuna (Akiba et al., KDD 2019). The first ten results are random.
    """

    name = "tpe"

    def propose(
        self, space: Mapping[str, Any], tried: Sequence[Tried], n: int, seed: int
    ) -> list[Config]:
        """See ``Optimizer``."""
        return fresh(_asked(space, tried, seed), tried, n)


def _asked(space: Mapping[str, Any], tried: Sequence[Tried], seed: int) -> Iterator[Config]:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    root = spaces.parse(space)
    study = optuna.create_study(
        direction="maximize",
        sampler=optuna.samplers.TPESampler(seed=seed + len(tried), constant_liar=True),
    )
    for one in tried:
        if one.quality is not None:
            known = spaces.parameters(space, one.config)
            study.add_trial(
                optuna.trial.create_trial(
                    params={path: value for path, (_, value) in known.items()},
                    distributions={
                        path: _distribution(parameter) for path, (parameter, _) in known.items()
                    },
                    value=one.quality,
                )
            )
    while True:
        yield root.build(partial(_suggested, study.ask()), "")


def _suggested(trial: "Trial", path: str, parameter: Number | Choice) -> Any:
    if isinstance(parameter, Choice):
        return trial.suggest_categorical(path, range(len(parameter.options)))
    if parameter.whole:
        return trial.suggest_int(path, int(parameter.low), int(parameter.high), log=parameter.log)
    return trial.suggest_float(path, parameter.low, parameter.high, log=parameter.log)


def _distribution(parameter: Number | Choice) -> "BaseDistribution":
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if isinstance(parameter, Choice):
        return CategoricalDistribution(range(len(parameter.options)))
    if parameter.whole:
        return IntDistribution(int(parameter.low), int(parameter.high), log=parameter.log)
    return FloatDistribution(parameter.low, parameter.high, log=parameter.log)


OPTIMIZERS = (TPE(),)
