"""Graphs and runs spread over processes: the world of ranks, partitions with halos, the partitioned chain."""
