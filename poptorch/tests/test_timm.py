"""timm's image networks give PyTorch's scores through poptorch.inferenceModel,
and make of their weights in a step of training what PyTorch makes of them.
FULL_MODELS=1 takes one or two of each family, otherwise two; with small images
where a network takes them, and with a warning where a tile is too full.

timm comes from PyPI: scripts/install-wheels.sh puts it into build/venv."""

import copy
import os
import sys
import warnings
from pathlib import Path

import pytest
import torch

import poptorch
from image_networks import letThrough, withoutDropout

# Debian's Python runs the tests; build/venv has packages for it.
for folder in Path(__file__).parents[2].glob("build/venv/lib/*/site-packages"):
    sys.path.append(str(folder))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    timm = pytest.importorskip(
        "timm", reason="timm is not there: scripts/install-wheels.sh gets it"
    )

IS_FULL = bool(os.environ.get("FULL_MODELS"))
QUICK = ("regnetx_002", "mobilenetv3_small_050")
FAMILIES = """
    bat_resnext26ts beit_base_patch16_224 botnet26t_256 cait_xxs24_224
    coat_lite_tiny coat_tiny coatnet_nano_rw_224 convit_tiny convmixer_768_32
    convnext_atto convnextv2_atto crossvit_tiny_240 cspdarknet53 cspresnet50
    darknet17 davit_tiny deit3_small_patch16_224 deit_tiny_patch16_224
    densenet121 dla34 dpn48b dpn68 eca_nfnet_l0 edgenext_xx_small
    efficientformer_l1 efficientformerv2_s0 efficientnet_b0 ese_vovnet19b_slim
    eva02_tiny_patch14_224 fastvit_t8 fbnetc_100 focalnet_tiny_srf gernet_s
    ghostnet_050 gmixer_12_224 gmlp_ti16_224 halonet26t hardcorenas_a
    hrnet_w18_small inception_next_tiny inception_resnet_v2 inception_v3
    inception_v4 lambda_resnet26t lcnet_050 levit_128s maxvit_rmlp_pico_rw_256
    mixer_s32_224 mixnet_s mnasnet_small mobileone_s0 mobilenetv2_050
    mobilenetv3_small_050 mobilevit_xxs mobilevitv2_050 nasnetalarge nest_tiny
    nf_regnet_b0 nfnet_l0 pit_ti_224 pnasnet5large poolformer_s12 pvt_v2_b0
    regnetx_002 regnety_002 repvgg_a0 res2net50_14w_8s resmlp_12_224
    resnest14d resnet18 resnetv2_50 rexnet_100 selecsls42 seresnet18
    skresnet18 swin_tiny_patch4_window7_224 swinv2_tiny_window8_256
    tinynet_e tnt_s_patch16_224 tresnet_m twins_pcpvt_small twins_svt_small
    vgg11_bn visformer_tiny vit_tiny_patch16_224 volo_d1_224 xception41
    xcit_nano_12_p16_224
""".split()
# Windows, heads and pools that images of 64 x 64 are too small for.
LARGE = {"bat_resnext26ts": 256, "botnet26t_256": 256,
         "coatnet_nano_rw_224": 224,
         "crossvit_tiny_240": 240, "efficientformer_l1": 224,
         "efficientformerv2_s0": 224, "halonet26t": 256,
         "inception_resnet_v2": 96, "inception_v3": 96, "inception_v4": 96,
         "levit_128s": 224, "maxvit_rmlp_pico_rw_256": 256,
         "nasnetalarge": 96, "nest_tiny": 224, "pnasnet5large": 96,
         "swin_tiny_patch4_window7_224": 224,
         "swinv2_tiny_window8_256": 256, "visformer_tiny": 224,
         "volo_d1_224": 224}  # fmt: skip


def make(name):
    """The network, and images for it."""
    size = LARGE.get(name, 64)
    torch.manual_seed(1)
    try:
        network = timm.create_model(name, num_classes=10, img_size=size)
    except TypeError:  # it does not ask
        network = timm.create_model(name, num_classes=10)
    return letThrough(withoutDropout(network)), torch.randn(2, 3, size, size)


@pytest.fixture(autouse=True)
def _warnsOfMemory(monkeypatch):
    monkeypatch.setenv("ASPEN_MEMORY", "warn")


@pytest.mark.parametrize("name", FAMILIES if IS_FULL else QUICK)
def test_scores(name):
    network, images = make(name)
    network.eval()
    with torch.no_grad():  # some keep a tensor from their first call
        expected = copy.deepcopy(network)(images)
    model = poptorch.inferenceModel(network)
    scores = model(images)
    model.destroy()
    assert expected.std() > 1e-3 * expected.abs().max() > 0
    error = (scores - expected).abs().max()
    assert error < 1e-4 * expected.abs().max(), f"{error}"


class Classifier(torch.nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network
        self.loss = torch.nn.CrossEntropyLoss()

    def forward(self, images, labels):
        scores = self.network(images)
        first = scores[0] if isinstance(scores, tuple) else scores
        return self.loss(first, labels)


def step(model, images, labels):
    """The loss of one step in PyTorch."""
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    loss = model(images, labels)
    loss.backward()
    optimizer.step()
    return loss.item()


def change(model, before):
    """What a step has done to all weights, in one vector."""
    old = dict(before.named_parameters())
    return torch.cat([
        (weight.detach().double() - old[name].detach().double()).flatten()
        for name, weight in model.named_parameters()
    ])  # fmt: skip


@pytest.mark.parametrize("name", FAMILIES if IS_FULL else QUICK)
def test_trainingStep(name):
    if name == "convit_tiny":
        pytest.skip("it makes float32 of its own, and has no float64 run")
    network, images = make(name)
    before = Classifier(network).train()
    labels = torch.tensor([3, 1])
    ours, single, exact = (copy.deepcopy(before) for _ in range(3))
    exact.double()
    expected = step(exact, images.double(), labels)
    step(single, images, labels)
    optimizer = torch.optim.SGD(ours.parameters(), lr=1e-3)
    model = poptorch.trainingModel(ours, optimizer=optimizer)
    loss = model(images, labels).item()
    model.copyWeightsToHost()
    model.destroy()
    assert loss == pytest.approx(expected, rel=1e-3)
    # Norms of few values amplify rounding, in PyTorch's float32 as well.
    right = change(exact, before)
    own = (change(single, before) - right).norm() / right.norm()
    apart = (change(ours, before) - right).norm() / right.norm()
    assert apart < 5 * own + 1e-3, f"{apart}, PyTorch's own {own}"
