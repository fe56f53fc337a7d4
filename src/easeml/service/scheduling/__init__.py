"""The scheduler's work, to look at: devices, decisions, losses, replays."""
