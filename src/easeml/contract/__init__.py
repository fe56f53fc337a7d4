"""Types on the wires: a file for each resource between api and client, ``tasks`` between service,
engine and task bodies.
"""
