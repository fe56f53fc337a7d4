"""Bytes that users send, and references that keep stored bytes alive."""
