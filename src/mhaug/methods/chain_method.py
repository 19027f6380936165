"""What methods share whose views come from a chain: each rank can have its own, or all ranks one in parts."""

from abc import abstractmethod
from typing import Any

from mhaug.augmentation.augmenter import Augmenter
from mhaug.augmentation.chain_drop import ChainDrop
from mhaug.augmentation.replica_chains import ReplicaChains
from mhaug.augmentation.shared_chain import SharedChainDrop
from mhaug.distributed.world import World
from mhaug.methods.augmented_method import AugmentedMethod
from mhaug.sampling.sampler import MHAug


class ChainMethod(AugmentedMethod):
    """An augmented method that is given by a sampler and a recipe."""

    @abstractmethod
    def sampler(self) -> MHAug:
        """The chain that the settings describe."""

    def augmenter(self, graph: Any, *, seed: int, replicas: int | None = None) -> Augmenter:
        """A chain that starts at the original graph."""
        if replicas is None:
            return ChainDrop(self.sampler(), graph, seed=seed)
        return ReplicaChains(self.sampler(), graph, replicas=replicas)

    def shared_augmenter(self, graph: Any, *, parts: int, seed: int, world: World) -> Augmenter:
        """The same, for all ranks together."""
        return SharedChainDrop(self.sampler(), graph, parts=parts, seed=seed, world=world)
