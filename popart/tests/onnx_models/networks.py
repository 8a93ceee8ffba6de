"""The networks: full ones as torchvision and BERT have them, and small ones of
the same kinds for every change."""

from dataclasses import dataclass
from typing import Callable

import torch
import torchvision.models as zoo
from torchvision.ops import StochasticDepth

from .bert import Encoder

CLASSES = 10


def without_chance(model: torch.nn.Module) -> torch.nn.Module:
    """Without dropout, whose random numbers no one else could have."""
    for name, child in model.named_children():
        if isinstance(child, (torch.nn.Dropout, StochasticDepth)):
            setattr(model, name, torch.nn.Identity())
        else:
            without_chance(child)
    return model


def images(batch: int, size: int):
    return lambda: (torch.randn(batch, 3, size, size),)


def sentences(batch: int, length: int, words: int):
    def make():
        mask = torch.ones(batch, length)
        mask[-1, length // 2:] = 0
        return (torch.randint(words, (batch, length)),
                torch.randint(2, (batch, length)), mask)

    return make


def vision_transformer(**sizes):
    """Its last layer would begin as zeros, and so would all scores."""
    model = zoo.VisionTransformer(num_classes=CLASSES, **sizes)
    torch.nn.init.normal_(model.heads.head.weight, std=0.02)
    return model


@dataclass(frozen=True)
class Network:
    """`opset` is what PyTorch exports to. `rate` of learning is small where a
    larger one makes PyTorch's own losses differ in their third digit between
    float and double: batch norms over few elements magnify roundings."""

    make: Callable[[], torch.nn.Module]
    inputs: Callable[[], tuple[torch.Tensor, ...]]
    opset: int = 13
    rate: float = 0.01

    def model(self) -> torch.nn.Module:
        torch.manual_seed(5)
        return without_chance(self.make())

    def batch(self, seed: int = 6
              ) -> tuple[tuple[torch.Tensor, ...], torch.Tensor]:
        """Inputs and the classes that they are of."""
        torch.manual_seed(seed)
        inputs = self.inputs()
        return inputs, torch.randint(CLASSES, (len(inputs[0]),))


SMALL = {
    "resnet18": Network(lambda: zoo.resnet18(num_classes=CLASSES),
                        images(4, 64), opset=11),
    "mobilenet_v2": Network(
        lambda: zoo.mobilenet_v2(num_classes=CLASSES), images(2, 96), opset=12,
        rate=1e-5),
    "efficientnet_b0": Network(
        lambda: zoo.efficientnet_b0(num_classes=CLASSES), images(2, 96),
        rate=1e-5),
    "vit": Network(
        lambda: vision_transformer(image_size=16, patch_size=4, num_layers=2,
                                   num_heads=2, hidden_dim=16, mlp_dim=32),
        images(2, 16), opset=14),
    "bert": Network(lambda: Encoder(2, 32, 4, words=50, positions=16),
                    sentences(2, 8, 50)),
}

FULL = {
    "resnet18": Network(SMALL["resnet18"].make, images(2, 224), rate=3e-4),
    "mobilenet_v2": Network(SMALL["mobilenet_v2"].make, images(2, 224),
                            rate=1e-5),
    "efficientnet_b0": Network(SMALL["efficientnet_b0"].make, images(2, 224),
                               rate=1e-5),
    "vit_b_16": Network(
        lambda: vision_transformer(image_size=224, patch_size=16,
                                   num_layers=12, num_heads=12,
                                   hidden_dim=768, mlp_dim=3072),
        images(2, 224), rate=1e-3),
    "bert_base": Network(lambda: Encoder(12, 768, 12, words=30522),
                         sentences(2, 128, 30522)),
}
