"""Logging of the engine's processes: one JSON object a line on standard error, which the supervisor
sends to a file.
"""

import sys
from collections.abc import MutableMapping
from typing import Any

import structlog
from structlog.processors import ExceptionRenderer
from structlog.tracebacks import ExceptionDictTransformer

from easeml.ids import request_id


def configure_logging(kind: str) -> None:
    """Log as ``kind`` (worker, scheduler, ...) from here on."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            name_request,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            ExceptionRenderer(
                ExceptionDictTransformer(show_locals=False)
            ),  # locals may hold users' data
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    structlog.contextvars.bind_contextvars(process=kind)


def name_request(
    logger: Any, method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Put the id of the request that is being answered into a line that has none."""
    answered = request_id()
    if answered:
        event.setdefault("request", answered)
    return event
