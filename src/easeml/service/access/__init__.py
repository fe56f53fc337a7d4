"""Who calls, what they may see, and the habits of every use case: paging, creation at most once."""
