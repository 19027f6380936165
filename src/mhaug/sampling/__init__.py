"""The mathematics of the paper's sections 3.1-3.2: target, moves, chain. No network, no labels."""
