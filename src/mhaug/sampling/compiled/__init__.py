"""The fast backend: one chain at a time in compiled loops, many chains on threads. Needs numba.

It means what the torch code beside it means, move by move: for the same random numbers it takes the same decisions.
"""
