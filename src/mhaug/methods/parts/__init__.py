"""What several methods are made of, or one has in a file of its own; each file knows nothing of the rows."""
