"""The REST types of the labels that the tests of an application may buy together."""

from pydantic import Field

from easeml.contract.resources import Answer, Request


class NewLabelBudget(Request):
    """How many labels gate and comparisons together may ask people for in any ``days`` days.

    ``labels``: null for as many as each of them may ask for by itself.
    """

    labels: int | None = Field(None, ge=0, le=1_000_000)
    days: float = Field(30.0, gt=0, le=3650)


class LabelBudget(Answer):
    """The labels that gate and comparisons of an application buy of people, in one account.

    ``bought``: in the last ``days`` days, ``by_gate``, ``by_comparisons`` and ``by_watching``.
    ``asked``: questions that are open. ``left``: that may still be asked for, null where there is
    no budget. ``needed``: what the model that waits at the gate needs more, as a rule; null where
    none waits, or that cannot be told yet.
    """

    application_id: str
    labels: int | None = None
    days: float = 30.0
    bought: int = 0
    by_gate: int = 0
    by_comparisons: int = 0
    by_watching: int = 0
    asked: int = 0
    left: int | None = None
    needed: int | None = None

    @property
    def says(self) -> str:
        """How it stands, in sentences."""
        bought = (
            f"In {self.days:g} days people gave {self.bought:,} labels: {self.by_gate:,} to the "
            f"gate, {self.by_comparisons:,} to comparisons of models, {self.by_watching:,} to "
            "watching."
        )
        if self.asked:
            bought += f" {self.asked:,} more are asked for now."
        if self.left is None:
            return (
                f"{bought} There is no budget: gate and comparisons each have a limit of their own."
            )
        said = f"{bought} {self.left:,} of {self.labels:,} are left."
        if self.needed is not None and self.needed > self.left + self.asked:
            said += f" The model that waits at the gate needs about {self.needed:,}, which is more."
        return said
