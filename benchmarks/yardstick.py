"""The usual way to write one update of mh-aug with PyG, kept as a yardstick for `training.py`.

PyG layers on dense features, an `edge_index` that is filtered for each view, `torch.randperm` for the subset, three
forward passes, one evaluation for validation and one for test. Nothing is slow on purpose: both parts of the proposal
are weighed in one go, counts of the current sample are kept, pairs are filtered before they are mirrored.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn import GATConv, GCNConv, SAGEConv

HIDDEN, HEADS, DROPOUT = 64, 8, 0.5


class Net(nn.Module):
    """Two layers with ReLU and dropout between them."""

    def __init__(self, backbone, inputs, classes, hidden=HIDDEN):
        super().__init__()
        if backbone == "gat":
            self.first = GATConv(inputs, hidden // HEADS, heads=HEADS, dropout=DROPOUT)
            self.second = GATConv(hidden, classes, heads=HEADS, concat=False, dropout=DROPOUT)
        else:
            layer = {"gcn": GCNConv, "sage": SAGEConv}[backbone]
            self.first, self.second = layer(inputs, hidden), layer(hidden, classes)

    def forward(self, x, edge_index):
        hidden = F.dropout(self.first(x, edge_index).relu(), DROPOUT, self.training)
        return self.second(hidden, edge_index)


@dataclass
class Sample:
    """A subgraph of the chain: its edges, the scale of its nodes, and what Metropolis-Hastings asks of it."""

    edge_index: Tensor
    node_scale: Tensor
    dropped: Tensor  # float64 [2]: pairs, nodes
    change: Tensor  # float64 [2, V]: ego change of each node, by edges and by nodes


class Yardstick:
    """One run: a network, its optimiser, and where the chain stands. `settings` are those of `mh-aug`."""

    def __init__(self, task, backbone, settings, hidden=HIDDEN):
        self.x, self.edge_index, self.labels = task.graph.x.to_dense(), task.graph.edge_index, task.labels
        self.masks = task.split
        self.pairs = self.edge_index[:, self.edge_index[0] < self.edge_index[1]]
        self.model = Net(backbone, self.x.shape[1], task.num_classes, hidden)
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=0.01, weight_decay=5e-4)
        self.received = self._messages(self.edge_index, torch.ones(len(self.labels)))
        self.units = torch.tensor([self.pairs.shape[1], len(self.labels)], dtype=torch.float64)
        for name in ("strength", "spread_slope", "spread_floor", "step_size"):
            both = [settings[f"edge_{name}"], settings[f"node_{name}"]]
            setattr(self, name, torch.tensor(both, dtype=torch.float64))
        self.current = self._sample(self.pairs, torch.ones(len(self.labels)))

    def update(self):
        """Algorithm 1: propose until a candidate is accepted, learn from it, evaluate twice."""
        self.model.train()
        original = self.model(self.x, self.edge_index)
        entropy = self._entropy(original.detach()) / math.log(original.shape[1])
        previous, accepted = self.current, False
        while not accepted:
            accepted = self._step(entropy)
        z_previous, z_current = (self._logits(sample) for sample in (previous, self.current))
        log_p, log_q = z_previous.log_softmax(-1), z_current.log_softmax(-1)
        consistency = F.kl_div(log_q, log_p, log_target=True, reduction="batchmean")
        supervised = F.cross_entropy(z_previous[self.masks.train], self.labels[self.masks.train])
        loss = supervised + 0.5 * consistency + 0.5 * self._entropy(original).mean()
        return self._learn(loss)

    def vanilla_update(self):
        """The same network without augmentation: one pass, one update, two evaluations."""
        self.model.train()
        logits = self.model(self.x, self.edge_index)
        return self._learn(F.cross_entropy(logits[self.masks.train], self.labels[self.masks.train]))

    def _learn(self, loss):
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        return self._accuracy(self.masks.validation), self._accuracy(self.masks.test)

    @torch.no_grad()
    def _accuracy(self, mask):
        self.model.eval()
        predicted = self.model(self.x, self.edge_index)[mask].argmax(-1)
        return float((predicted == self.labels[mask]).float().mean())

    def _logits(self, sample):
        return self.model(self.x * sample.node_scale.unsqueeze(1), sample.edge_index)

    def _step(self, entropy):
        """Eq. 7 for edges and for nodes, each by itself; whether either moved."""
        candidate = self._propose()
        spread = self.spread_slope.unsqueeze(1) * entropy + self.spread_floor.unsqueeze(1)
        accepted = torch.rand(2).log() <= self._log_ratio(candidate, spread)
        now, (edges, nodes) = self.current, accepted.tolist()
        self.current = Sample(
            candidate.edge_index if edges else now.edge_index,
            candidate.node_scale if nodes else now.node_scale,
            torch.where(accepted, candidate.dropped, now.dropped),
            torch.where(accepted.unsqueeze(1), candidate.change, now.change),
        )
        return edges or nodes

    def _propose(self):
        """Eq. 6: a ratio near the current one (normal, truncated to [0, 1]), then a fresh subset of that size."""
        centre = self.current.dropped / self.units
        low, high = (torch.special.ndtr((end - centre) / self.step_size) for end in (0.0, 1.0))
        drawn = torch.special.ndtri(low + torch.rand(2, dtype=torch.float64) * (high - low))
        ratio = (centre + self.step_size * drawn).clamp(0.0, 1.0)
        pairs_dropped, nodes_dropped = (ratio * self.units).round().long().tolist()
        pairs = self.pairs[:, torch.randperm(self.pairs.shape[1])[pairs_dropped:]]
        node_kept = torch.ones(len(self.labels))
        node_kept[torch.randperm(len(self.labels))[:nodes_dropped]] = 0.0
        return self._sample(pairs, node_kept)

    def _sample(self, pairs, node_kept):
        edge_index = torch.cat([pairs, pairs.flip(0)], dim=1)
        everyone = torch.ones_like(node_kept)
        received = [self._messages(edge_index, everyone), self._messages(self.edge_index, node_kept)]
        kept = node_kept.sum()
        dropped = torch.stack([self.units[0] - pairs.shape[1], self.units[1] - kept])
        scale = node_kept * (len(node_kept) / kept.clamp(min=1))
        return Sample(edge_index, scale, dropped, 1 - torch.stack(received).double() / self.received)

    def _log_ratio(self, candidate, spread):
        now = self.current
        return (
            self._log_target(candidate, spread)
            - self._log_target(now, spread)
            + self._log_proposal(now, candidate)
            - self._log_proposal(candidate, now)
        )

    def _log_target(self, sample, spread):
        """Eqs. 2 and 3."""
        distance = (sample.change - self.strength.unsqueeze(1)) / spread
        return -0.5 * distance.square().sum(1) - self._log_subsets(sample.dropped)

    def _log_proposal(self, sample, given):
        """Mass of the ratios that round to the count, over the number of subsets of that size."""
        centre = given.dropped / self.units
        ends = ((sample.dropped + half) / self.units for half in (-0.5, 0.5))
        low, high = (torch.special.ndtr((end.clamp(0, 1) - centre) / self.step_size) for end in ends)
        bottom, top = (torch.special.ndtr((end - centre) / self.step_size) for end in (0.0, 1.0))
        return (high - low).log() - (top - bottom).log() - self._log_subsets(sample.dropped)

    def _log_subsets(self, dropped):
        return (self.units + 1).lgamma() - (dropped + 1).lgamma() - (self.units - dropped + 1).lgamma()

    @staticmethod
    def _messages(edge_index, sent):
        """Eq. 5: messages that reach each node in two hops, its own included."""
        for _ in range(2):
            sent = sent.index_add(0, edge_index[1], sent[edge_index[0]])
        return sent

    @staticmethod
    def _entropy(logits):
        log_p = logits.log_softmax(-1)
        return -(log_p.exp() * log_p).sum(-1)
