"""Graph data in: tasks, splits, benchmark datasets, a user's own files. Knows nothing of sampling or methods."""
