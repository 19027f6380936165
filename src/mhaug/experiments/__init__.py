"""Results and reports: everything that reads records or draws pictures. matplotlib lives here only."""
