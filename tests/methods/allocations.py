"""The largest tensor that a piece of code makes: how memory promises are tested."""

from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LargestTensor(TorchDispatchMode):
    """`elements` of the largest dense tensor that any operation gave, inside the `with` block."""

    elements = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for value in tree_leaves(result):
            if isinstance(value, Tensor) and value.layout == torch.strided:
                # an expanded tensor holds no more than what it was expanded from
                held = value.untyped_storage().nbytes() // max(value.element_size(), 1)
                self.elements = max(self.elements, min(value.numel(), held))
        return result
