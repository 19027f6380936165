"""Memory of large graphs stays with the process between steps.

glibc fetches blocks of 32 MB and more from the system one by one and hands them back when they are freed. Tensors of
a large graph come and go at each step: up to a third of a step's time was spent on their pages.
"""

import ctypes

LARGE = 2**22  # columns from which tensors are that large
_MMAP_THRESHOLD, _TRIM_THRESHOLD, _MOST = -3, -1, 2**31 - 1  # of glibc's mallopt


def keep_pages() -> bool:
    """Tell the allocator to keep what is freed, for good; False where there is no glibc."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(_MMAP_THRESHOLD, _MOST) and mallopt(_TRIM_THRESHOLD, _MOST))
