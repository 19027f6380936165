"""L_u of Eq. 8: predictions on two samples of the graph should agree."""

from torch import Tensor

from mhaug import checks
from mhaug.objectives.log_softmax import log_softmax
from mhaug.per_replica import PerReplica, aligned, check_number, is_on


def consistency_loss(
    previous: Tensor,
    current: Tensor,
    *,
    stop_gradient: bool = False,
    temperature: PerReplica = 1.0,
    confidence: PerReplica = 0.0,
) -> Tensor:
    """L_u = (1/V) Σ_i KL[f(G^(t))_i ‖ f(G^(t+1))_i] (Eq. 8), from logits; `previous` is G^(t).

    The gradient flows through both sides, as in the released code. `stop_gradient` holds the first side fixed. UDA
    also sharpens it, softmax(z / `temperature`), and counts only nodes whose largest unsharpened probability is
    above `confidence`; the others count as 0 in the mean.
    """
    checks.shape(current, "current", tuple(previous.shape))
    check_number(temperature, "temperature", 0.0, open_low=True)
    check_number(confidence, "confidence", 0.0, 1.0)
    first = previous.detach() if stop_gradient else previous
    divergence = kl_divergence(first / aligned(temperature, 2), current)
    if is_on(confidence):
        sure = previous.detach().softmax(-1).amax(-1) > aligned(confidence, 1)
        divergence = divergence.where(sure, 0.0)
    return divergence.mean(-1)


def kl_divergence(first: Tensor, second: Tensor) -> Tensor:
    """KL[softmax(first) ‖ softmax(second)] of each row.

    Both sides stay logs: a probability that underflows to 0 then meets a finite log, and gives 0.
    """
    log_p, log_q = log_softmax(first), log_softmax(second)
    return (log_p.exp() * (log_p - log_q)).sum(-1)
