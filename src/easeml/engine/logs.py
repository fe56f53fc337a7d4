"""Logging of the engine's processes: one JSON object a line on standard error, which the supervisor
sends to a file.
"""

import sys

import structlog
from structlog.processors import ExceptionRenderer
from structlog.tracebacks import ExceptionDictTransformer


def configure_logging(kind: str) -> None:
    """Log as ``kind`` (worker, scheduler, ...) from here on."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
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
