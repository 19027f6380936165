"""Two networks that are trained as one."""

from torch import nn

from mhaug.backbones.backbone import Backbone
from mhaug.methods.parts.auto_encoder import EdgePredictor


class Joint(nn.Module):
    """The classifier and the edge predictor, one set of weights for one optimiser."""

    def __init__(self, backbone: Backbone, predictor: EdgePredictor) -> None:
        super().__init__()
        self.backbone, self.predictor = backbone, predictor
