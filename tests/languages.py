"""Which languages of skeletons the machine of the tests executes."""

import shutil

import pytest


def needs_language(language: str) -> None:
    """Skip the test, and say why, where programs in a language cannot run."""
    if language == "r" and not shutil.which("Rscript"):
        pytest.skip("R is not installed (Debian: r-base-core)")
