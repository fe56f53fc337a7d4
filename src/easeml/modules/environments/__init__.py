"""Packages of their own for programs in Python: what ``requirements.txt`` names, installed once.

``requirements`` reads the file, ``building`` has pip install what it names, ``placing`` lays that out
on a machine, where programs see it and nothing of easeml's own packages.
"""
