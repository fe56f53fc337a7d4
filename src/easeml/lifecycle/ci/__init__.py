"""Continuous integration of models: may this commit replace the old model, and how sure is that?

A ``Config`` says the condition and how sure the team wants to be; ``plan`` says how many examples
that needs; a ``Ledger`` tests commits one by one, asks for just the labels that it needs, and
refuses beyond what was planned. After ease.ml/ci (Renggli et al., MLSys 2019; Karlaš et al., KDD
2020), with tests that may stop at any time.
"""

from easeml.lifecycle.ci.betting import Bets, confidence_sequence, log_wealth
from easeml.lifecycle.ci.bounds import (
    bennett_size,
    clopper_pearson,
    empirical_bernstein,
    exact_size,
    hoeffding_size,
)
from easeml.lifecycle.ci.commit import ClauseFinding, Trial, try_commit
from easeml.lifecycle.ci.condition import (
    Both,
    Clause,
    Either,
    Formula,
    clauses,
    evaluate,
    groups_of,
    of_each_group,
)
from easeml.lifecycle.ci.config import (
    Adaptivity,
    Config,
    Metric,
    Mode,
    parse_config,
    read_config,
    uses_old,
)
from easeml.lifecycle.ci.examples import Examples, score_examples
from easeml.lifecycle.ci.gains import rows_that_show
from easeml.lifecycle.ci.groups import Group, values_in
from easeml.lifecycle.ci.ledger import Ledger, open_ledger
from easeml.lifecycle.ci.levels import step_nats
from easeml.lifecycle.ci.outlook import Outlook, can_pass, labels_to_come
from easeml.lifecycle.ci.parsing import parse
from easeml.lifecycle.ci.planning import Method, Plan, plan, rows_that_settle
from easeml.lifecycle.ci.powered import PoweredMean, powered_mean
from easeml.lifecycle.ci.published import baseline_size, optimised_size, single_range_size
from easeml.lifecycle.ci.ratios import f1_bounds, f1_size
from easeml.lifecycle.ci.steps import Spent, Step
from easeml.lifecycle.ci.test_set_names import commit_digest, test_set_digest
from easeml.lifecycle.ci.verdict import Verdict

__all__ = [
    "Adaptivity",
    "Bets",
    "Both",
    "Clause",
    "ClauseFinding",
    "Config",
    "Either",
    "Examples",
    "Formula",
    "Group",
    "Ledger",
    "Method",
    "Metric",
    "Mode",
    "Outlook",
    "Plan",
    "PoweredMean",
    "Spent",
    "Step",
    "Trial",
    "Verdict",
    "baseline_size",
    "bennett_size",
    "can_pass",
    "clauses",
    "clopper_pearson",
    "commit_digest",
    "confidence_sequence",
    "empirical_bernstein",
    "evaluate",
    "exact_size",
    "f1_bounds",
    "f1_size",
    "groups_of",
    "hoeffding_size",
    "labels_to_come",
    "log_wealth",
    "of_each_group",
    "open_ledger",
    "optimised_size",
    "parse",
    "parse_config",
    "plan",
    "powered_mean",
    "read_config",
    "rows_that_settle",
    "rows_that_show",
    "score_examples",
    "single_range_size",
    "step_nats",
    "test_set_digest",
    "try_commit",
    "uses_old",
    "values_in",
]
