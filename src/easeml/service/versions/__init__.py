"""Versions of data: changed, browsed, compared and exported."""
