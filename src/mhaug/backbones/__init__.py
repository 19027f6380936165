"""Graph neural networks whose layers take a view (kept edges, node scales) instead of a new edge list."""
