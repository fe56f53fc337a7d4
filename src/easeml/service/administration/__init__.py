"""What a provider sees and does; the service in a few numbers."""
