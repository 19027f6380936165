"""One HTML page from a run store: it reads records and never trains."""
