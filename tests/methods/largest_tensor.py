"""How large the largest tensor was that a piece of code made: what memory promises are tested with."""

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LargestTensor(TorchDispatchMode):
    """`elements` of the largest result of any operation inside the `with` block, backward ones included."""

    def __init__(self) -> None:
        super().__init__()
        self.elements = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            # a sparse matrix is as large as what it stores
            if isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided:
                self.elements = max(self.elements, leaf.untyped_storage().nbytes() // leaf.element_size())
        return result
