"""MH-Aug, with and without regularisers: Algorithm 1 to the letter by default."""

from dataclasses import dataclass

from mhaug import checks
from mhaug.methods.augmented import Recipe
from mhaug.methods.chain_method import ChainMethod
from mhaug.methods.consecutive import ConsecutiveLoss
from mhaug.objectives.objective import VIEW_NAMES
from mhaug.per_replica import check_number
from mhaug.sampling.sampler import MHAug
from mhaug.sampling.target import EgoTerm

TRAIN_ON, ENTROPY = ("accepted", "every-step"), ("live", "frozen")


@dataclass(frozen=True)
class MHAugNoReg(ChainMethod):
    """L_s on the samples of the chain.

    Accepted pairs only, joint acceptance, the paper's move, a chain that starts at the original graph: each can be
    changed by its option. `train_on="every-step"` learns after a rejection too, from the state that the chain stays
    in, which is the sequence that has the law P. `entropy="frozen"` keeps ε of the untrained network, so that P does
    not move during training. A strength slope other than 0 pulls node i to μ + c ε_i instead of μ.
    """

    edge_strength: float = 0.3
    edge_strength_slope: float = 0.0
    edge_spread_slope: float = 10.0
    edge_spread_floor: float = 1.0
    edge_ego_weight: float = 1.0
    edge_count_weight: float = 1.0
    edge_step_size: float = 0.1
    node_strength: float = 0.3
    node_strength_slope: float = 0.0
    node_spread_slope: float = 5.0
    node_spread_floor: float = 1.0
    node_ego_weight: float = 1.0
    node_count_weight: float = 1.0
    node_step_size: float = 0.03
    hops: int = 2
    moves: str = "resample"
    accept: str = "joint"
    train_on: str = "accepted"
    entropy: str = "live"
    supervised_on: str = "previous"

    def __post_init__(self) -> None:
        checks.one_of(self.train_on, "train_on", TRAIN_ON)
        checks.one_of(self.entropy, "entropy", ENTROPY)
        checks.one_of(self.supervised_on, "supervised_on", VIEW_NAMES)
        for name in ("edge_step_size", "node_step_size"):
            check_number(getattr(self, name), name, 0.0, open_low=True)
        self.sampler()

    @property
    def side_by_side(self) -> bool:  # type: ignore[override]
        """Local moves are for a CPU: one after another."""
        return self.moves == "resample"

    def sampler(self) -> MHAug:
        """The chain that these settings describe."""
        return MHAug(
            edges=self._term("edge"),
            nodes=self._term("node"),
            hops=self.hops,
            moves=self.moves,
            accept=self.accept,
            step_size=(self.edge_step_size, self.node_step_size),
        )

    def recipe(self) -> Recipe:
        """What is learned, and when."""
        loss = self.objective()
        return Recipe(
            loss.views,
            loss,
            every_step=self.train_on == "every-step",
            live_entropy=self.entropy == "live",
            regularises=loss.regularises,
        )

    def objective(self) -> ConsecutiveLoss:
        """L_s."""
        return ConsecutiveLoss(supervised_on=self.supervised_on)

    def _term(self, part: str) -> EgoTerm:
        names = ("strength", "strength_slope", "spread_slope", "spread_floor", "ego_weight", "count_weight")
        own = {name: f"{part}_{name}" for name in names}
        with checks.called(**own):
            return EgoTerm(**{name: getattr(self, setting) for name, setting in own.items()})


@dataclass(frozen=True)
class MHAugReg(MHAugNoReg):
    """L = L_s + γ1 L_u + γ2 L_h (Eq. 9): consecutive samples should agree, and predictions should be sharp."""

    consistency_weight: float = 0.5
    sharpness_weight: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.number_in(self.consistency_weight, "consistency_weight", 0.0)
        checks.number_in(self.sharpness_weight, "sharpness_weight", 0.0)

    def objective(self) -> ConsecutiveLoss:
        """Eq. 9."""
        return ConsecutiveLoss(self.consistency_weight, self.sharpness_weight, self.supervised_on)
