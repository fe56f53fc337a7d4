"""Trained models, and which one an endpoint serves."""
