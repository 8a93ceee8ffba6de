# Image networks of other packages, made ready for comparing values.
import torch


def letThrough(network):
    """Weights that let an image through: some networks start with layers that
    are zero, or nearly."""
    for key, value in network.state_dict().items():
        if not value.is_floating_point():
            continue
        if key.endswith("running_mean"):
            value.normal_(0, 0.1)
        elif key.endswith("running_var"):
            value.uniform_(0.5, 1.5)
        elif "layer_scale" in key:
            value.uniform_(0.1, 0.3)
        elif value.dim() > 1 and value.abs().max() == 0:
            value.normal_(0, 0.02)
    return network


def withoutDropout(network):
    """Dropout, of values and of layers, draws other numbers than PyTorch's."""
    for module in network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        for name in ("drop_prob", "drop_rate"):  # timm's
            if isinstance(getattr(module, name, None), float):
                setattr(module, name, 0.0)
    return network
