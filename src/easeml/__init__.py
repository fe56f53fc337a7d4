"""easeml: a self-hosted, multi-tenant, declarative machine-learning service."""

__version__ = "0.1.0"
