"""What the fork server of these tests imports: else each child would import it, and build the
validators of a result, anew. That took four fifths of the time of a child.
"""

import attacks_for_tests
import bodies_for_tests
import floods_for_tests

from easeml.contract.tasks import TaskResult, TaskSpec

WARM = (__name__,)
"""To be told to an executor as ``preload``. The first one in a process decides for all of them."""

for model in (TaskResult, TaskSpec):
    model.model_rebuild()

__all__ = ["WARM", "attacks_for_tests", "bodies_for_tests", "floods_for_tests"]
