"""torchvision's networks for classification give PyTorch's scores through
poptorch.inferenceModel, and some learn as they do in PyTorch. FULL_MODELS=1
takes all of them at their own sizes; otherwise ten, with small images."""

import copy
import os

import pytest
import torch
import torchvision

import poptorch
from image_networks import letThrough, withoutDropout

IS_FULL = bool(os.environ.get("FULL_MODELS"))

# One of each family that is quick to compile, with the size of an image that it
# still makes something of.
SMALL = {
    "convnext_tiny": 32,
    "densenet121": 32,
    "efficientnet_b0": 32,
    "mobilenet_v3_small": 32,
    "regnet_y_400mf": 32,
    "resnet18": 32,
    "shufflenet_v2_x0_5": 32,
    "squeezenet1_1": 32,
    "swin_t": 32,
    "vit_b_32": 64,
}


def images(name, size):
    generator = torch.Generator().manual_seed(len(name))
    return torch.randn(1, 3, size, size, generator=generator)


def make(name, **arguments):
    torch.manual_seed(1)
    if name in ("googlenet", "inception_v3"):
        arguments.update(aux_logits=False, init_weights=False)
    network = getattr(torchvision.models, name)(**arguments)
    return letThrough(network)


def sizeOf(name):
    """The smallest that torchvision has trained the network for."""
    return min(
        weights.transforms().crop_size[0]
        for weights in torchvision.models.get_model_weights(name)
    )


NETWORKS = (
    {name: None for name in torchvision.models.list_models(torchvision.models)}
    if IS_FULL
    else SMALL
)


# How many IPUs those take whose weights are most of the 897 MB of one or more,
# and the part of a tile's memory that products may use besides.
SEVERAL_IPUS = {
    "convnext_large": (2, 0.6),
    "vit_l_16": (4, 0.6),
    "vit_l_32": (2, 0.6),
    "vit_h_14": (8, 0.6),
    "regnet_y_128gf": (4, 0.2),
}


def optionsFor(network, ipus, proportion=0.6):
    """With blocks of about as many weights on each IPU."""
    options = poptorch.Options()
    if ipus == 1:
        return options
    options.setAvailableMemoryProportion(
        {f"IPU{ipu}": proportion for ipu in range(ipus)}
    )
    layers = [
        module
        for module in network.modules()
        if type(module).__name__
        in ("CNBlock", "EncoderBlock", "ResBottleneckBlock")
    ]
    sizes = [sum(w.numel() for w in layer.parameters()) for layer in layers]
    ipu = 0
    for i, layer in enumerate(layers):
        if sum(sizes[:i]) * ipus >= ipu * sum(sizes):
            poptorch.BeginBlock(layer, ipu_id=ipu)
            ipu += 1
    return options.setExecutionStrategy(poptorch.ShardedExecution())


@pytest.mark.parametrize("name", NETWORKS)
def test_scores(name):
    size = NETWORKS[name] or sizeOf(name)
    isFixed = name.startswith("vit")  # it has as many positions as patches
    network = make(name, **({"image_size": size} if isFixed else {})).eval()
    image = images(name, size)
    with torch.no_grad():
        expected = network(image)
    options = optionsFor(network, *SEVERAL_IPUS.get(name, (1,)))
    scores = poptorch.inferenceModel(network, options)(image)
    # Scores that differ from class to class, so that they tell something.
    assert expected.std() > 1e-3 * expected.abs().max() > 0
    error = (scores - expected).abs().max()
    assert error < 1e-4 * expected.abs().max(), f"{error}"


def smallTransformer():
    return torchvision.models.VisionTransformer(
        image_size=64, patch_size=16, num_layers=2, num_heads=2,
        hidden_dim=16, mlp_dim=32)  # fmt: skip


# Without dropout and dropped layers, which draw other numbers.
TRAINED = {
    "resnet18": lambda: make("resnet18"),
    "mobilenet_v2": lambda: withoutDropout(make("mobilenet_v2")),
    "efficientnet_b0": lambda: withoutDropout(
        make("efficientnet_b0", stochastic_depth_prob=0.0)
    ),
    "vit_b_16": lambda: make("vit_b_16") if IS_FULL else smallTransformer(),
}


class Classifier(torch.nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network
        self.loss = torch.nn.CrossEntropyLoss()

    def forward(self, image, label):
        scores = self.network(image)
        return scores, self.loss(scores, label)


def lossesOf(name, seed):
    """Of three steps: ours, and those of PyTorch by type."""
    size = 224 if IS_FULL else 64
    isLarge = IS_FULL and name == "vit_b_16"  # too large for one IPU
    generator = torch.Generator().manual_seed(seed)
    image = torch.randn(2 if isLarge else 4, 3, size, size, generator=generator)
    label = torch.tensor([3, 1, 4, 1])[: len(image)]
    ours = Classifier(TRAINED[name]()).train()
    peers = {
        kind: copy.deepcopy(ours).to(kind)
        for kind in (torch.float32, torch.float64)
    }

    def optimizer(model):
        return torch.optim.SGD(model.parameters(), lr=1e-3)

    options = optionsFor(ours.network, 2 if isLarge else 1)
    model = poptorch.trainingModel(ours, options, optimizer=optimizer(ours))
    own = {kind: optimizer(peer) for kind, peer in peers.items()}
    losses = []
    for _ in range(3):
        loss = model(image, label)[1].item()
        expected = {}
        for kind, peer in peers.items():
            own[kind].zero_grad()
            result = peer(image.to(kind), label)[1]
            result.backward()
            own[kind].step()
            expected[kind] = result.item()
        losses.append((loss, expected))
    model.destroy()
    return losses


def isAsExact(loss, expected):
    """Norms over few values amplify what rounding does to weights: no further
    from the exact loss than PyTorch is."""
    exact = expected[torch.float64]
    distance = abs(expected[torch.float32] - exact)
    return abs(loss - exact) < 2 * distance + 1e-5 * exact


# An activation within a rounding of zero passes a ReLU in one implementation
# and not in another. A mistake is in all batches, that is not in all of these;
# and it neither changes the first loss nor later ones by much.
@pytest.mark.parametrize("name", TRAINED)
def test_training(name):
    apart = {}
    for seed in range(5, 11):
        losses = lossesOf(name, seed)
        assert isAsExact(*losses[0])
        for loss, expected in losses:
            assert loss == pytest.approx(expected[torch.float64], rel=5e-2)
        if all(isAsExact(*step) for step in losses):
            return
        apart[seed] = losses
    pytest.fail(f"losses are further from the exact ones: {apart}")
