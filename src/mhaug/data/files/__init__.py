"""A user's own graph from disk: one file a format, all through `read_graph`. Nothing here opens a foreign pickle."""

from mhaug.data.files.reading import FORMATS, read_graph

__all__ = ["FORMATS", "read_graph"]
