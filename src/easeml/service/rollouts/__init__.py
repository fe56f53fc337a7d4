"""Models that are compared with the one that serves, on live requests, before they replace it."""
