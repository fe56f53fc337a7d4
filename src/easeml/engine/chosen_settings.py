"""What a provider chose while easeml runs, policy and optimizer, or else what the settings say."""

import structlog

from easeml.errors import InvalidInput
from easeml.modules import Module, Registry
from easeml.search import Policy, policy_named
from easeml.search.optimizers import Optimizer
from easeml.service.administration import kept_settings
from easeml.service.knowledge.optimizers import optimizer_of
from easeml.settings import Settings
from easeml.store import Transaction

_log = structlog.get_logger()


class Choices:
    """``settings`` None: nothing can be chosen, ``policy`` and ``optimizer`` stay."""

    def __init__(self, settings: Settings | None, policy: Policy, optimizer: Optimizer | Module):
        self._settings = settings
        self._policy = policy
        self._optimizer = optimizer

    def policy(self, tx: Transaction) -> Policy:
        """Return the policy in force."""
        chosen = self._chosen(tx, "policy")
        if chosen is None:
            return self._policy
        try:
            return policy_named(chosen)
        except InvalidInput as error:  # a plug-in that brought it is gone
            _log.warning("the policy that was chosen cannot be used", error=str(error))
            return self._policy

    def optimizer(self, tx: Transaction, registry: Registry) -> Optimizer | Module:
        """Return the optimizer in force; a module is a folder of programs."""
        chosen = self._chosen(tx, "optimizer")
        if chosen is None and isinstance(self._optimizer, Module):
            chosen = self._optimizer.name  # it may have been archived, or replaced
        if chosen is None:
            return self._optimizer
        try:
            return optimizer_of(registry, chosen)
        except InvalidInput as error:
            _log.warning("the optimizer that was chosen cannot be used", error=str(error))
            return optimizer_of(registry, "default")

    def _chosen(self, tx: Transaction, name: str) -> str | None:
        if self._settings is None:
            return None
        return kept_settings.kept(tx, self._settings).get(name)
