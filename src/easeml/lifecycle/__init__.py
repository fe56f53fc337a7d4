"""Advice over the whole life of a model: each tool works alone, on arrays and frames.

None needs a service.

Every tool returns a ``Result``: numbers, a table, a figure, and a sentence that says what to do
next. Tools are pure: randomness comes in as a seed, long work reports to a ``Progress``.
"""

from easeml.lifecycle.features import encode
from easeml.lifecycle.result import Progress, Result

__all__ = ["Progress", "Result", "encode"]
