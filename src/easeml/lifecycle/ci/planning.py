"""How many examples a series of tests needs, by every method, and which easeml uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.ci.bounds import up
from easeml.lifecycle.ci.condition import clauses, compares_models, groups_of
from easeml.lifecycle.ci.config import Adaptivity, Config, Metric, Mode
from easeml.lifecycle.ci.design import Assumed, Design, design_clause, expected_rows
from easeml.lifecycle.ci.levels import clause_levels, step_nats
from easeml.lifecycle.ci.published import (
    Optimised,
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
            found += (
                f" Commits that lie clearly on one side take about {least.expected:,} in all "
                f"({least.name})."
            )
        if self.may_differ == 1:
            found += (
                " If commits change few predictions, say so (difference): that makes it far fewer."
            )
        return found

    def to_frame(self) -> pd.DataFrame:
        """Return one row a method."""
        import pandas as pd

        return pd.DataFrame(list(map(vars, self.methods)))

    def figure(self) -> Figure:
        """Return the labels of each method as bars."""
        from easeml.figures import ci

        return ci.plan(self.to_json())


def plan(config: Config, *, positives: float | None = None) -> Plan:
    """Return how many examples and labels a configuration needs, by each method.

    For the metric F1 the needs depend on ``positives``, the share of examples whose label is the
    positive class, above 0 and at most 1; other metrics take none. For a condition on groups they
    depend on ``config.groups``.

    Raises:
        InvalidInput: if a clause holds always or never, the share of positives is missing for F1 or
            no share, that of a group is missing, or the condition is on F1 of groups.
    """
    if config.names_groups:
        _check_groups(config)
    if config.metric is Metric.F1:
        return _plan_f1(config, _share_of_positives(positives))
    if positives is not None:
        raise _refused(f"is not used by {config.metric.value}")
    own = [_sequential(config, shared=True)]
    if config.adaptivity is Adaptivity.FULL:
        own.append(_sequential(config, shared=False))
    optimised = optimised_size(config)
    may_differ = None
    if compares_models(config.condition):
        may_differ = share_that_may_differ(config)
    return _plan(
        config,
        _published(config, optimised),
        own,
        optimised=optimised.labelled if optimised else None,
        may_differ=may_differ,
    )


def _check_groups(config: Config) -> None:
    if config.metric is Metric.F1:
        raise InvalidInput(
            "How many examples F1 of groups needs cannot be told beforehand.", where="condition"
        )
    if not config.knows_sizes:
        named = ", ".join(f"{group}: 0.5" for group in map(str, groups_of(config.condition)))
        raise InvalidInput(
            "How many examples that takes depends on how large the groups are.",
            where="groups",
            remedy=f"Say what share of the examples each has, as in groups: {{{named}}}.",
        )


def _share_of_positives(positives: float | None) -> float:
    if positives is None:
        raise InvalidInput(
            "How many examples F1 needs depends on the share of positives.",
            where="positives",
            remedy="Say how often the positive class occurs, as --positives 0.1.",
        )
    if not 0 < positives <= 1:
        raise _refused(f"is {positives}")
    return positives


def _refused(reason: str) -> InvalidInput:
    return InvalidInput(
        f"The share of positives {reason}.",
        where="positives",
        remedy="Give it for F1, above 0 and at most 1.",
    )


def _plan_f1(config: Config, positives: float) -> Plan:
    baseline = up(fixed_size(config, positives))
    why = "Hoeffding's bound on F1 as a mean, for a number fixed in advance; not published"
    fixed = _labelled_in_advance("baseline", baseline, why)
    return _plan(config, [fixed], [_ratio_method(config, positives)])


def _labelled_in_advance(name: str, size: int, why: str) -> Method:
    """Return a method that needs the labels of all its examples, whatever the truth is."""
    return Method(
        name=name,
        labelled=size,
        pool=size,
        per_commit=size,
        expected=size,
        why=why,
    )


def _plan(
    config: Config,
    others: list[Method],
    own: list[Method],
    *,
    optimised: int | None = None,
    may_differ: float | None = None,
) -> Plan:
    """Return the plan by the method of ``own`` that needs the fewest labels.

    ``others`` begin with the baseline.
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
    """Return what the sequential test of F1 needs: at most, what settles the worst places.

    The worst are those within the zone, by the expected number of events; chance may take a few
    more rows. Differences of F1 need every label, not only those of changed predictions; all steps
    walk one pool, or, where developers see every answer, take examples of their own.
    """
    fresh = config.adaptivity is Adaptivity.FULL
    designs = _designs(config, shared=not fresh)
    most = _rows_at(_INSIDE, config, designs, positives)
    expected = _rows_at((0.0, 1.0), config, designs, positives)
    free = [design for design in designs if design.clause.only_d]
    pool = max(most, _examples(config, free))
    worst = "at most: the worst places within the tolerance, by the counts to expect"
    steps = config.steps
    if fresh:
        return Method(
            name="sequential, fresh examples",
            labelled=most * steps,
            pool=pool * steps,
            per_commit=most,
            expected=expected * steps,
            why=f"each step takes fresh examples; {worst}",
        )
    return Method(
        name="sequential, shared pool",
        labelled=most,
        pool=pool,
        per_commit=most,
        expected=min(most, expected * steps),
        why=f"all steps walk the same pool; {worst}",
    )


def _rows_at(
    places: tuple[float, ...], config: Config, designs: list[Design], positives: float
) -> int:
    """Return the rows that settle every clause that needs labels, at the worst of the places."""
    differ = config.difference or 1.0
    most = 0
    for design in designs:
        if design.clause.only_d:
            continue
        rows = [typical_rows(design, positives, differ, place) for place in places]
        most = max(most, *rows)
    return most


def guarantee(config: Config) -> str:
    """Return the promise in a sentence."""
    if config.mode is Mode.FP_FREE:
        rare, wrongly, other, rightly = "passes", "does not hold", "fails", "holds"
    else:
        rare, wrongly, other, rightly = "fails", "holds", "passes", "does not hold"
    return (
        f"With probability {config.reliability:.15g} or more, "
        f"no commit of the {config.steps:,} {rare} though the condition {wrongly}; "
        f"with the same probability, none {other} though the condition {rightly} "
        "with every clause by more than twice its tolerance."
    )


def rows_that_settle(config: Config, *, shared: bool, extra: float = 0.0) -> int | None:
    """Return after how many labelled rows every step is settled, with ``extra`` nats of evidence.

    None where that depends on the data (F1, or groups of which nobody said how large they are).
    """
    if config.metric is Metric.F1 or not config.knows_sizes:
        return None
    return _examples(config, _designs(config, shared=shared, extra=extra))


def answers_seen(config: Config, known: np.ndarray, rows: int, nats: float) -> int:
    """Return how many answers a developer can see: 2 where ``rows`` examples always settle a step.

    Where they do not, a step may also stay open. Developers who see no answers, or only the one
    that ends the series, make no histories of them.

    Raises:
        InvalidInput: if the condition holds always or never.
    """
    if config.adaptivity is not Adaptivity.FULL:
        return 2
    if config.names_groups:
        return 3  # how many rows a group has is known when the rows are seen
    needed = rows_that_settle(config, shared=True, extra=nats)
    all_labelled = bool(known.all())
    always_settled = needed is not None and needed <= rows
    return 2 if all_labelled and always_settled else 3


def _designs(config: Config, *, shared: bool, extra: float = 0.0) -> list[Design]:
    """Return the tests of all clauses, with ``extra`` nats of evidence each."""
    assumed = Assumed(
        mode=config.mode,
        metric=config.metric,
        scale=config.scale,
        share=share_that_may_differ(config),
    )
    nats = step_nats(config, shared=shared) + extra
    levels = clause_levels(config.condition, nats)
    return [design_clause(clause, assumed, level) for clause, level in levels]


def _sequential(config: Config, *, shared: bool) -> Method:
    designs = _designs(config, shared=shared)
    labelled = [design for design in designs if not design.clause.only_d]
    rows = _examples(config, labelled)
    full = config.adaptivity is Adaptivity.FULL
    if full and shared:
        # All is labelled in advance, so that answers alone tell developers anything.
        return Method(
            name="sequential, shared examples",
            labelled=rows,
            pool=_examples(config, designs),
            per_commit=rows,
            expected=rows,
            why="every step looks at the same labelled examples, at delta / 2^H",
        )
    steps = config.steps
    pool = _examples(config, designs)
    per_commit = max((_labels(config, design, design.rows) for design in labelled), default=0)
    expected = max((_expected(config, design) for design in labelled), default=0)
    if full:
        return Method(
            name="sequential, fresh examples",
            labelled=per_commit * steps,
            pool=pool * steps,
            per_commit=per_commit,
            expected=expected * steps,
            why="each step takes fresh examples, at delta / H, "
            "and asks for labels only until it is settled",
        )
    total = min(rows, per_commit * steps)
    return Method(
        name="sequential, shared pool",
        labelled=total,
        pool=pool,
        per_commit=per_commit,
        expected=min(total, expected * steps),
        why="all steps walk the same pool at delta / H, "
        "and ask for labels only until they are settled",
    )


def _examples(config: Config, designs: list[Design]) -> int:
    """Return the examples that always settle every one of these clauses; 0 for none.

    Of groups: as many that the smallest one has rows enough, where their shares are as was said.
    """
    found = [up(design.rows / min(config.shares_of(design.clause))) for design in designs]
    return max(found, default=0)


def _labels(config: Config, design: Design, rows: float) -> int:
    """Return the labels for so many units: of changed predictions alone, where these suffice.

    A unit has a row of the smallest group, and of the others as many as there are for each.
    """
    shares = config.shares_of(design.clause)
    in_a_unit = sum(shares) / min(shares)
    changed = design.share if design.clause.is_difference else 1.0
    return up(rows * in_a_unit * changed)


def _expected(config: Config, design: Design) -> int:
    below = expected_rows(design, config.scale, design.zone.low)
    above = expected_rows(design, config.scale, design.zone.high)
    return _labels(config, design, max(below, above))


def _published(config: Config, optimised: Optimised | None) -> list[Method]:
    """Return the published methods that apply: the baseline, one range, and patterns 1 and 2."""
    baseline = baseline_size(config)
    why = "published: Hoeffding's bound a variable"
    found = [_labelled_in_advance("baseline", baseline, why)]
    only = list(clauses(config.condition))
    if len(only) == 1 and len(only[0].weights) > 1:
        units = single_range_size(only[0], step_nats(config, shared=True), scale=config.scale)
        size = up(units / min(config.shares_of(only[0])))
        why = "Hoeffding's bound on the whole expression"
        found.append(_labelled_in_advance("single range", size, why))
    if optimised is not None:
        why = f"published: Bennett's bound, at most {optimised.share:g} of the predictions changed"
        method = Method(
            name="optimised",
            labelled=optimised.labelled,
            pool=optimised.labelled + optimised.unlabelled,
            per_commit=optimised.per_commit,
            expected=optimised.labelled,
            why=why,
        )
        found.append(method)
    return found
