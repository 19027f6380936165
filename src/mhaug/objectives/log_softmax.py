"""log softmax over the classes, with its layout chosen for the device."""

from torch import Tensor


def log_softmax(logits: Tensor) -> Tensor:
    """log p [..., C]. On a CPU a row of few classes fills no vector register: there it runs along the nodes."""
    if logits.dim() == 2 and logits.device.type == "cpu":
        return logits.t().contiguous().log_softmax(0).t()
    return logits.log_softmax(-1)
