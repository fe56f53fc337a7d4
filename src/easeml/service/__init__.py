"""The use cases: what users, the engine and the provider can do, each as plain functions over the
store.
"""

from easeml.service.caller import Caller

__all__ = ["Caller"]
