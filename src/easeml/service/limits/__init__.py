"""What a tenant may use."""
