"""Model searches: jobs, candidates, beliefs, proposals, and the tasks that train."""
