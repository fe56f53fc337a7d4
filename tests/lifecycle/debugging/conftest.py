import pytest


@pytest.fixture(autouse=True)
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small forests judge here: what is planted is plain, and a forest is most of a test's time."""
    monkeypatch.setattr("easeml.lifecycle.held_out._TREES", 15)
