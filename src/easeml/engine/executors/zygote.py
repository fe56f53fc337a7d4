"""Imported first in the fork server of a worker: it dies with its worker, and so do its children
with it.
"""

from multiprocessing import parent_process

from easeml.parents import die_with_parent

if parent_process() is None:  # the fork server itself, not a child that imports this
    die_with_parent()
