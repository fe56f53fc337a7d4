"""Imported once by the fork server, so that a child starts with everything loaded and no user bytes
in it.
"""

import pandas  # noqa: F401
import sklearn.pipeline  # noqa: F401

import easeml.engine.serving.child  # noqa: F401
from easeml.modules import warm_up
from easeml.modules.early_skops import import_skops

import_skops()
warm_up()
