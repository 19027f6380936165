"""Graphs that are too large for one pass: batches of neighbourhoods, cut from the samples of a chain on the whole."""

from mhaug.minibatch.batch import Batch
from mhaug.minibatch.in_edges import InEdges
from mhaug.minibatch.neighbours import NeighbourSampler

__all__ = ["Batch", "InEdges", "NeighbourSampler"]
