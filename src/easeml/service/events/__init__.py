"""What a user may want to know, in order; notifications."""
