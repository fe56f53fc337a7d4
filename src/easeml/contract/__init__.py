"""Types on the wires: ``resources`` between api and client, ``tasks`` between service, engine and
task bodies.
"""
