"""Moves: ways to propose the next subgraph. One file a move, one row in `MOVES`."""
