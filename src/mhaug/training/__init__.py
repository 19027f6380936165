"""The loop, and what goes into and comes out of it: evaluation, checkpoints, results."""
