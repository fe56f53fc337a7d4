"""The REST types of the rules that an application's models and search have to keep."""

from typing import Literal

from pydantic import Field

from easeml.contract.resources import Answer, Request


class NewModelRules(Request):
    """What every model that serves has to keep; what is not named is not asked any more.

    ``max_latency``: seconds to predict one row; ``max_size``: bytes of its files. ``monotonic``:
    column -> how the prediction follows it: never against it. Of a target of two classes that is the
    probability of the second. ``optimizer``: what proposes configurations for the search; empty: what
    the provider chose for all.
    """

    max_latency: float | None = Field(None, gt=0, allow_inf_nan=False)
    max_size: int | None = Field(None, gt=0, le=2**53)
    monotonic: dict[str, Literal["rising", "falling"]] = Field(default_factory=dict)
    optimizer: str = Field("", max_length=100)


class LeftOut(Answer):
    """What may not serve, or is not likely to. ``what``: model, trained (a trained model) or candidate.

    ``id``: of a trained model. ``reason``: why; ``chance``: of a candidate, that it keeps the rules.
    """

    what: Literal["model", "trained", "candidate"]
    name: str
    id: str = ""
    reason: str
    chance: float | None = None


class ModelRules(Answer):
    """The rules that every model of an application has to keep, and what they leave out.

    ``optimizers``: that may be chosen, names with titles. ``keeping``: trained models of the newest
    search that keep them, of ``trained``.
    """

    application_id: str
    max_latency: float | None = None
    max_size: int | None = None
    monotonic: dict[str, str] = Field(default_factory=dict)
    optimizer: str = ""
    optimizers: dict[str, str] = Field(default_factory=dict)
    trained: int = 0
    keeping: int = 0
    left_out: list[LeftOut] = Field(default_factory=list)

    @property
    def asks_anything(self) -> bool:
        """Whether there is any rule."""
        return self.max_latency is not None or self.max_size is not None or bool(self.monotonic)
