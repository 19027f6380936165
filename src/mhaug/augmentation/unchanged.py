"""No augmentation, as an augmenter: the sibling that does nothing."""

from torch import Tensor

from mhaug.augmentation.augmenter import Augmenter, Proposal
from mhaug.data.view import View


class Unchanged(Augmenter):
    """Always the whole graph."""

    needs_entropy = False

    def propose(self, entropy: Tensor | None) -> Proposal:
        """The graph as it is."""
        return Proposal(View(), View(), accepted=True)

    def state_dict(self) -> dict[str, Tensor]:
        """Nothing to remember."""
        return {}

    def load_state_dict(self, saved: dict[str, Tensor]) -> None:
        """Nothing to restore."""
