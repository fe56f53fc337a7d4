"""A model as its module.toml describes it: one of scikit-learn's that easeml does not bring."""

DISCRIMINANT = """
name = "discriminant"
kind = "model"
version = "1.0"
contract = 1
title = "Linear discriminant analysis"
about = "Classes as bells of one shape."
reference = "R. A. Fisher, 1936"
accepts = "classification"

[runtime]
kind = "python"
entry = "sklearn.discriminant_analysis:LinearDiscriminantAnalysis"

[runtime.parameters]
solver = "lsqr"

[space]
shrinkage = { ".float" = [0.0, 1.0], ".default" = 0.1 }
"""
