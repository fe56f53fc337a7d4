"""What a body logs, and the libraries that it uses: lines of JSON with the ids by which the logs of all
processes are found. What they print otherwise stays as it is.
"""

import logging
import os
from collections.abc import Mapping

import structlog

from easeml.engine.logs import configure_logging

_VARIABLE = "EASEML_{}_ID"
_SHARED = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso"),
    structlog.processors.format_exc_info,
]


def begin(ids: Mapping[str, str]) -> None:
    """Log with these ids from here on; programs that are started find them as ``EASEML_TASK_ID`` and
    the like.
    """
    configure_logging("task")
    structlog.contextvars.bind_contextvars(**ids)
    for name, id in ids.items():
        os.environ[_VARIABLE.format(name.upper())] = id
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_SHARED,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.JSONRenderer(),
        ],
    )
    handler = logging.StreamHandler()  # to standard error, which goes into the task's log
    handler.setFormatter(formatter)
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
