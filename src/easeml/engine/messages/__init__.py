"""Notifications that are sent elsewhere: posted to webhooks, and mailed."""
