"""Neural networks that learn from pictures and series themselves, by PyTorch.

Only what trains or predicts imports the files beside this one: they need PyTorch.
"""
