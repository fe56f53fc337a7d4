"""People who come to a tenant by a provider, and people who leave for good."""
