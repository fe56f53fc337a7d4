"""What ``app learn`` says becomes a candidate."""

from easeml.cli.histories import candidates_of


def test_trials_of_one_configuration_are_one_candidate():
    taken = []
    for depth in (3, 3, 4, 3, 5, 6):
        taken.append({"model": "tree", "config": {"depth": depth}, "value": 0.9})
    found = [one["config"]["depth"] for one in candidates_of(taken)]
    assert found == [3, 4, 5]
