"""The asynchronous client, written by hand; ``scripts/unasync.py`` makes the synchronous twin from
it.
"""
