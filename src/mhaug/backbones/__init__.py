"""Graph neural networks whose layers take a view (kept edges, node scales) instead of a new edge list."""

from mhaug.backbones.backbone import Backbone
from mhaug.backbones.catalogue import BACKBONES, backbone_options, build_backbone
from mhaug.backbones.gat import GAT
from mhaug.backbones.gcn import GCN
from mhaug.backbones.graph_input import GraphInput
from mhaug.backbones.pyg_module import PyGModule
from mhaug.backbones.sage import SAGE

__all__ = [
    "BACKBONES",
    "GAT",
    "GCN",
    "SAGE",
    "Backbone",
    "GraphInput",
    "PyGModule",
    "backbone_options",
    "build_backbone",
]
