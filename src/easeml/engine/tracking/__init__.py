"""Runs of a search that are shown elsewhere as well: in an MLflow tracking server."""
