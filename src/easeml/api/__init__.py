"""REST under ``/api/v1``: one thin router a resource, over the use cases of ``easeml.service``."""

from easeml.api.app import create_app
from easeml.api.controller import run_controller

__all__ = ["create_app", "run_controller"]
