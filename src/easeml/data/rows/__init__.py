"""Rows that come to an endpoint."""
