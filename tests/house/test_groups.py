"""What the workers rely on: tests that share what they start run in one of them, which would start
it anew, and all of them collect tests of the same names.
"""

import gzip
import os

import pytest

LONGEST = 400  # characters of a name


@pytest.mark.xdist_group("house")
def test_groups_of_tests_are_known(request: pytest.FixtureRequest):
    if "PYTEST_XDIST_WORKER" not in os.environ:
        pytest.skip("all tests run in one process")
    assert request.node.nodeid.endswith("@house")


def test_contents_are_no_names_of_tests(request: pytest.FixtureRequest):
    config = request.config
    made = gzip.compress(b"rows")  # holds the second
    assert config.hook.pytest_make_parametrize_id(config=config, val=made, argname="a") == "a"
    assert max(len(item.nodeid) for item in request.session.items) < LONGEST
