"""How many examples a series of tests needs, by every method, and which easeml uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from easeml.errors import InvalidInput
from easeml.lifecycle.ci.bounds import up
from easeml.lifecycle.ci.condition import clauses
from easeml.lifecycle.ci.config import Adaptivity, Config, Metric, Mode
from easeml.lifecycle.ci.design import Assumed, Design, design_clause, expected_rows
from easeml.lifecycle.ci.levels import clause_levels, step_nats
from easeml.lifecycle.ci.published import (
    baseline_size,
    optimised_size,
    share_that_may_differ,
    single_range_size,
)
from easeml.lifecycle.ci.ratio_sizes import fixed_size, typical_rows
from easeml.lifecycle.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from easeml.figures import Figure

_INSIDE = (0.3, 0.4, 0.5, 0.6, 0.7)
"""Places in the zone of a clause, between both proofs, among which the hardest lies."""


@dataclass(frozen=True)
class Method:
    """What one method needs for the whole series.

    ``labelled`` labels at most, in a pool of ``pool`` examples that may be unlabelled at first;
    ``per_commit`` labels at most for one commit, and about ``expected`` where the truth is at the
    nearer edge of the tolerance.
    """

    name: str
    labelled: int
    pool: int
    per_commit: int
    expected: int
    why: str


@dataclass(frozen=True)
class Plan(Result):
    """Sample sizes of a configuration.

    ``baseline`` and ``optimised`` are the published numbers of labels (``optimised`` None where no
    pattern fits); ``chosen`` is the most labels that ``chosen_method`` can need, ``expected`` about
    what the series takes where every commit lies at an edge of its tolerance. ``unlabelled`` is the
    size of the pool, labelled or not; ``may_differ`` the share of predictions that a commit changes
    at most, where a difference is tested.
    """

    condition: str
    reliability: float
    mode: str
    adaptivity: str
    steps: int
    baseline: int
    optimised: int | None
    chosen: int
    chosen_method: str
    unlabelled: int
    per_commit: int
    expected: int
    may_differ: float | None
    methods: tuple[Method, ...]
    guarantee: str

    @property
    def advice(self) -> str:
        found = (
            f"Gather {self.unlabelled:,} examples; at most {self.chosen:,} labels are needed "
            f"({self.chosen_method})."
        )
        own = [method for method in self.methods if method.name.startswith("sequential")]
        least = min(own, key=lambda method: method.expected)
        if least.expected < self.chosen:
            found += f" Commits that lie clearly on one side take about {least.expected:,} in all ({least.name})."
        if self.may_differ == 1:
            found += (
                " If commits change few predictions, say so (difference): that makes it far fewer."
            )
        return found

    def to_frame(self) -> pd.DataFrame:
        """Return one row a method."""
        import pandas as pd

        return pd.DataFrame([vars(method) for method in self.methods])

    def figure(self) -> Figure:
        """Return the labels of each method as bars."""
        from easeml.figures import ci

        return ci.plan(self.to_json())


def plan(config: Config, *, positives: float | None = None) -> Plan:
    """Return how many examples and labels a configuration needs, by each method.

    For the metric F1 the needs depend on ``positives``, the share of examples whose label is the
    positive class.

    Raises: InvalidInput: if a clause holds always or never, or the share of positives is missing
        for F1 or no share.
    """
    ratio = config.metric is Metric.F1
    if ratio and positives is None:
        raise InvalidInput(
            "How many examples F1 needs depends on the share of positives.",
            where="positives",
            remedy="Say how often the positive class occurs, as --positives 0.1.",
        )
    if positives is not None and not (ratio and 0 < positives <= 1):
        reason = f"is {positives}" if ratio else f"is not used by {config.metric.value}"
        raise InvalidInput(
            f"The share of positives {reason}.",
            where="positives",
            remedy="Give it for F1, above 0 and at most 1.",
        )
    if positives is not None:
        return _plan_f1(config, positives)
    full = config.adaptivity is Adaptivity.FULL
    own = [_sequential(config, shared=True)] + ([_sequential(config, shared=False)] if full else [])
    optimised = optimised_size(config)
    differences = any(clause.is_difference for clause in clauses(config.condition))
    return _plan(
        config,
        _published(config),
        own,
        optimised=optimised.labelled if optimised else None,
        may_differ=share_that_may_differ(config) if differences else None,
    )


def _plan_f1(config: Config, positives: float) -> Plan:
    baseline = up(fixed_size(config, positives))
    why = "Hoeffding's bound on F1 as a mean, for a number fixed in advance; not published"
    fixed = Method("baseline", baseline, baseline, baseline, baseline, why)
    return _plan(config, [fixed], [_ratio_method(config, positives)])


def _plan(
    config: Config,
    others: list[Method],
    own: list[Method],
    *,
    optimised: int | None = None,
    may_differ: float | None = None,
) -> Plan:
    """Return the plan by the method of ``own`` that needs the fewest labels; ``others`` begin with
    the baseline.
    """
    chosen = min(own, key=lambda method: (method.labelled, method.expected))
    return Plan(
        condition=str(config.condition),
        reliability=config.reliability,
        mode=config.mode.value,
        adaptivity=config.adaptivity.value,
        steps=config.steps,
        baseline=others[0].labelled,
        optimised=optimised,
        chosen=chosen.labelled,
        chosen_method=chosen.name,
        unlabelled=chosen.pool,
        per_commit=chosen.per_commit,
        expected=chosen.expected,
        may_differ=may_differ,
        methods=(*others, *own),
        guarantee=guarantee(config),
    )


def _ratio_method(config: Config, positives: float) -> Method:
    """Return what the sequential test of F1 needs: at most what settles the worst places within the
    zone.

    That holds for the expected number of events; chance may take a few more rows. Differences of F1
    need every label, not only those of changed predictions; all steps walk one pool, or, where
    developers see every answer, take examples of their own.
    """
    fresh = config.adaptivity is Adaptivity.FULL
    designs = _designs(config, shared=not fresh)
    labelled = [design for design in designs if not design.clause.only_d]
    differ = config.difference or 1.0

    def rows(*places: float) -> int:
        return max(
            (typical_rows(design, positives, differ, at) for design in labelled for at in places),
            default=0,
        )

    most, expected, steps = rows(*_INSIDE), rows(0.0, 1.0), config.steps
    pool = max([most, *(design.rows for design in designs if design.clause.only_d)])
    if fresh:
        why = "each step takes fresh examples; at most: the worst places within the tolerance, by the counts to expect"
        return Method(
            "sequential, fresh examples", most * steps, pool * steps, most, expected * steps, why
        )
    why = "all steps walk the same pool; at most: the worst places within the tolerance, by the counts to expect"
    return Method("sequential, shared pool", most, pool, most, min(most, expected * steps), why)


def guarantee(config: Config) -> str:
    """Return the promise in a sentence."""
    rare, kind = ("passes", "fails") if config.mode is Mode.FP_FREE else ("fails", "passes")
    holds = "does not hold" if rare == "passes" else "holds"
    other = "holds" if rare == "passes" else "does not hold"
    return (
        f"With probability {config.reliability:.15g} or more, no commit of the {config.steps:,} {rare} though the "
        f"condition {holds}; with the same probability, none {kind} though the condition {other} with every clause "
        "by more than twice its tolerance."
    )


def rows_that_settle(config: Config, *, shared: bool, extra: float = 0.0) -> int | None:
    """Return after how many labelled rows every step is settled, with ``extra`` nats of evidence.

    None where that depends on the data (F1).
    """
    if config.metric is Metric.F1:
        return None
    return max((design.rows for design in _designs(config, shared=shared, extra=extra)), default=1)


def _designs(config: Config, *, shared: bool, extra: float = 0.0) -> list[Design]:
    assumed = Assumed(config.mode, config.metric, config.scale, share_that_may_differ(config))
    nats = step_nats(config, shared=shared) + extra
    return [
        design_clause(clause, assumed, level)
        for clause, level in clause_levels(config.condition, nats)
    ]


def _sequential(config: Config, *, shared: bool) -> Method:
    designs = _designs(config, shared=shared)
    labelled = [design for design in designs if not design.clause.only_d]
    pool = max(design.rows for design in designs)
    per_commit = max((_labels(design, design.rows) for design in labelled), default=0)
    expected = max((_expected(config, design) for design in labelled), default=0)
    rows = max((design.rows for design in labelled), default=0)
    full = config.adaptivity is Adaptivity.FULL
    if (
        full and shared
    ):  # all is labelled in advance, so that answers alone tell developers anything
        why = "every step looks at the same labelled examples, at delta / 2^H"
        return Method("sequential, shared examples", rows, pool, rows, rows, why)
    if full:
        steps = config.steps
        why = "each step takes fresh examples, at delta / H, and asks for labels only until it is settled"
        return Method(
            "sequential, fresh examples",
            per_commit * steps,
            pool * steps,
            per_commit,
            expected * steps,
            why,
        )
    why = (
        "all steps walk the same pool at delta / H, and ask for labels only until they are settled"
    )
    total = min(rows, per_commit * config.steps)
    series = min(total, expected * config.steps)
    return Method("sequential, shared pool", total, pool, per_commit, series, why)


def _labels(design: Design, rows: float) -> int:
    return up(rows * design.share) if design.clause.is_difference else up(rows)


def _expected(config: Config, design: Design) -> int:
    edges = (
        expected_rows(design, config.scale, edge) for edge in (design.zone.low, design.zone.high)
    )
    return max(_labels(design, rows) for rows in edges)


def _published(config: Config) -> list[Method]:
    baseline = baseline_size(config)
    found = [
        Method(
            "baseline",
            baseline,
            baseline,
            baseline,
            baseline,
            "published: Hoeffding's bound a variable",
        )
    ]
    only = list(clauses(config.condition))
    if len(only) == 1 and len(only[0].weights) > 1:
        size = single_range_size(only[0], step_nats(config, shared=True), scale=config.scale)
        found.append(
            Method(
                "single range", size, size, size, size, "Hoeffding's bound on the whole expression"
            )
        )
    if optimised := optimised_size(config):
        why = f"published: Bennett's bound, at most {optimised.share:g} of the predictions changed"
        labels = (optimised.labelled, optimised.labelled + optimised.unlabelled)
        found.append(Method("optimised", *labels, optimised.per_commit, labels[0], why))
    return found
