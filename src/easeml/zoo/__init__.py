"""The modules that ship with easeml.

They are found by their files; no other room imports this one.
"""
