"""Samples of a schema, read from values or drawn at random."""
