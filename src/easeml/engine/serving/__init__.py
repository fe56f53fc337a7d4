"""Serving: frames on the wire, the memory-limited child that holds a tenant's models, and its
handle.
"""
