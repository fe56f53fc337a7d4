"""What a page shows of many things, in one answer."""

from easeml.contract.resources import Answer, Dataset, Page, Task


class TaskOverview(Answer):
    """A page of tasks, newest first, with what people read them by.

    ``counts``: tasks of the tenant by state. ``applications``: names by id.
    """

    page: Page[Task]
    counts: dict[str, int]
    applications: dict[str, str]


class UnusedDatasets(Answer):
    """The newest datasets that no application was made of, the newest first."""

    items: list[Dataset]
