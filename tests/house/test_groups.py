"""The tests that share what they start run in one worker: each worker would start it anew."""

import os

import pytest


@pytest.mark.xdist_group("house")
def test_groups_of_tests_are_known(request: pytest.FixtureRequest):
    if "PYTEST_XDIST_WORKER" not in os.environ:
        pytest.skip("all tests run in one process")
    assert request.node.nodeid.endswith("@house")
