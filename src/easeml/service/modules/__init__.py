"""The modules of the knowledge base, to look at and to add."""
