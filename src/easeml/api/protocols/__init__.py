"""Protocols that other tools speak, as thin translations before the endpoint of an application."""
