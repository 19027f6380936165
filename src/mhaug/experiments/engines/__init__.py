"""Engines: ways to get through a list of runs. One file an engine, one row in `catalogue.py`."""
