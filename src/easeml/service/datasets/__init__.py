"""Datasets: uploads become immutable versions."""
