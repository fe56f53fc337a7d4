"""The use cases: what users, the engine and the provider can do, as plain functions over the store."""
