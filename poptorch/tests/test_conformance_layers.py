# Products, convolutions, pools, norms, images and recurrent layers.
import torch
import torch.nn.functional as F
from conformance_rows import Distinct, Floats, Given, Row, rowTest
from torch import nn

torch.manual_seed(0)  # the weights of the modules below

S = (4, 6)


def resize(mode, **arguments):
    return lambda a: F.interpolate(a, mode=mode, **arguments)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x):
        return self.layer(x, x, x)


class Last(nn.Module):
    """A recurrent layer: its outputs and last states, flat."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        y, states = self.layer(x)
        return (y, *states) if isinstance(states, tuple) else (y, states)


class WithState(Last):
    def forward(self, x, h, c):
        y, (h, c) = self.layer(x, (h, c))
        return y, h, c


PRODUCTS = [
    Row("linear", nn.Linear(6, 5), S),
    Row("linear_no_bias", nn.Linear(6, 5, bias=False), (2, 3, 6)),
    Row("linear_vector", nn.Linear(6, 5), (6,)),
    Row("bilinear", nn.Bilinear(3, 4, 5), (2, 3), (2, 4)),
    Row("matmul", torch.matmul, (3, 4), (4, 5)),
    Row("matmul_batched", torch.matmul, (2, 3, 4), (2, 4, 5)),
    Row("matmul_broadcast", torch.matmul, (2, 3, 4), (4, 5)),
    Row("matmul_vectors", torch.matmul, (4,), (4,)),
    Row("matmul_left_vector", torch.matmul, (4,), (4, 5)),
    Row("matmul_right_vector", torch.matmul, (2, 3, 4), (4,)),
    Row("mm", torch.mm, (3, 4), (4, 5)),
    Row("bmm", torch.bmm, (2, 3, 4), (2, 4, 5)),
    Row("mv", torch.mv, (3, 4), (4,)),
    Row("dot", torch.dot, (4,), (4,)),
    Row("outer", torch.outer, (4,), (3,)),
    Row("addmm", torch.addmm, (3, 5), (3, 4), (4, 5)),
    Row("addmm_scaled", lambda a, b, c: torch.addmm(
        a, b, c, beta=0.5, alpha=2), (5,), (3, 4), (4, 5)),
    Row("addmv", torch.addmv, (3,), (3, 4), (4,)),
    Row("addr", torch.addr, (4, 3), (4,), (3,)),
    Row("addbmm", torch.addbmm, (3, 5), (2, 3, 4), (2, 4, 5)),
    Row("baddbmm", lambda a, b, c: torch.baddbmm(a, b, c, beta=0.5, alpha=2),
        (2, 3, 5), (2, 3, 4), (2, 4, 5)),
    Row("einsum", lambda a, b: torch.einsum("bij,bjk->bik", a, b),
        (2, 3, 4), (2, 4, 5)),
    Row("einsum_trace", lambda a: torch.einsum("ii->i", a), (4, 4)),
    Row("einsum_outer", lambda a, b: torch.einsum("i,jk->kij", a, b), (3,),
        (2, 4)),
    Row("tensordot", lambda a, b: torch.tensordot(a, b, 2), (2, 3, 4),
        (3, 4, 5)),
    Row("cross", lambda a, b: torch.linalg.cross(a, b), (4, 3), (4, 3)),
    Row("cross_dim", lambda a, b: torch.cross(a, b, 0), (3, 4), (3, 4)),
    Row("kron", torch.kron, (2, 3), (3, 2)),
    Row("cdist", torch.cdist, (2, 3, 4), (2, 5, 4)),
    Row("cdist_one", lambda a, b: torch.cdist(a, b, 1.0), (3, 4), (5, 4)),
    Row("pairwise_distance", F.pairwise_distance, S, S),
    Row("cosine_similarity", lambda a, b: F.cosine_similarity(a, b), S, S),
    Row("weight_norm", lambda x, v, g: F.linear(
        x, torch._weight_norm(v, g, 0)), S, (5, 6), (5, 1)),
    Row("attention", Attention(), (2, 5, 8)),
    Row("transformer_layer", nn.TransformerEncoderLayer(
        8, 2, 16, dropout=0, batch_first=True), (2, 5, 8)),
    Row("transformer_decoder", nn.TransformerDecoderLayer(
        8, 2, 16, dropout=0), (3, 2, 8), (4, 2, 8)),
]  # fmt: skip

def definite(a):
    return a @ a.transpose(-1, -2) + torch.eye(a.shape[-1]).to(a)


LINEAR_ALGEBRA = [
    Row("inverse", torch.inverse, (2, 4, 4), half=False),
    Row("solve", torch.linalg.solve, (2, 4, 4), (2, 4, 3), half=False),
    Row("solve_vector", torch.linalg.solve, (4, 4), (4,), half=False),
    Row("det", torch.linalg.det, (2, 4, 4), half=False),
    Row("det_needs_exchanges", torch.linalg.det, Given(
        [[0.0, 1.0, 2.0], [3.0, 0.0, 1.0], [1.0, 1.0, 0.0]]), half=False),
    Row("slogdet", torch.linalg.slogdet, (2, 4, 4), half=False),
    Row("cholesky", lambda a: torch.linalg.cholesky(definite(a)), (2, 4, 4),
        half=False),
    Row("cholesky_solve", lambda a, b: torch.cholesky_solve(
        b, torch.linalg.cholesky(definite(a))), (4, 4), (4, 2), half=False),
    *(
        Row(f"solve_triangular_{upper}_{left}", lambda a, b, upper=upper,
            left=left: torch.linalg.solve_triangular(
                definite(a), b, upper=upper, left=left), (4, 4), (4, 4),
            half=False)
        for upper in (False, True)
        for left in (False, True)
    ),
]  # fmt: skip

CONVOLUTIONS = [
    Row("conv1d", nn.Conv1d(2, 4, 3, padding=1), (2, 2, 9)),
    Row("conv", nn.Conv2d(2, 4, 3), (2, 2, 8, 8)),
    Row("conv_stride", nn.Conv2d(2, 4, 3, stride=2, padding=1), (2, 2, 9, 9)),
    Row("conv_groups", nn.Conv2d(4, 6, 3, groups=2), (2, 4, 6, 6)),
    Row("conv_depthwise", nn.Conv2d(4, 4, 3, groups=4), (2, 4, 6, 6)),
    Row("conv_dilated", nn.Conv2d(2, 3, 3, dilation=2), (1, 2, 9, 9)),
    Row("conv_no_bias", nn.Conv2d(2, 3, 1, bias=False), (2, 2, 4, 4)),
    Row("conv_same", nn.Conv2d(2, 3, 3, padding="same"), (2, 2, 5, 4)),
    Row("conv_oblong", nn.Conv2d(2, 3, (3, 1), (2, 1), (1, 0)), (2, 2, 5, 4)),
    Row("conv_circular", nn.Conv2d(2, 3, 3, padding=1,
                                   padding_mode="circular"), (1, 2, 5, 4)),
    Row("conv_unbatched", nn.Conv2d(2, 3, 3), (2, 5, 5)),
    Row("conv3d", nn.Conv3d(2, 3, 2, stride=(1, 2, 1)), (1, 2, 4, 5, 3)),
    Row("transposed1d", nn.ConvTranspose1d(2, 3, 3, 2), (2, 2, 5)),
    Row("transposed", nn.ConvTranspose2d(2, 3, 3), (2, 2, 4, 5)),
    Row("transposed_stride", nn.ConvTranspose2d(
        2, 3, 3, stride=2, padding=1, output_padding=1), (2, 2, 4, 5)),
    Row("transposed_groups", nn.ConvTranspose2d(
        4, 6, 3, groups=2, bias=False), (1, 4, 4, 4)),
    Row("transposed3d", nn.ConvTranspose3d(2, 3, 2), (1, 2, 3, 2, 3)),
]  # fmt: skip

POOLS = [
    Row("max_pool1d", lambda a: F.max_pool1d(a, 3, 2), (2, 3, 9)),
    Row("max_pool", lambda a: F.max_pool2d(a, 2), (2, 3, 6, 6)),
    Row("max_pool_padded", lambda a: F.max_pool2d(a, 3, 2, 1), (2, 3, 7, 7)),
    Row("max_pool_ceil", lambda a: F.max_pool2d(a, 3, 2, ceil_mode=True),
        (2, 3, 8, 6)),
    Row("max_pool_dilated", lambda a: F.max_pool2d(a, 2, 1, dilation=2),
        (2, 3, 6, 6)),
    Row("max_pool_unbatched", lambda a: F.max_pool2d(a, 2), (3, 6, 6)),
    Row("max_pool3d", lambda a: F.max_pool3d(a, 2), (1, 2, 4, 4, 2)),
    Row("max_pool_large", lambda a: F.max_pool2d(a, 17), (1, 2, 17, 35)),
    Row("avg_pool1d", lambda a: F.avg_pool1d(a, 3, 2, 1), (2, 3, 9)),
    Row("avg_pool", lambda a: F.avg_pool2d(a, 2), (2, 3, 6, 6)),
    Row("avg_pool_padded", lambda a: F.avg_pool2d(a, 3, 2, 1), (2, 3, 7, 7)),
    Row("avg_pool_not_counted", lambda a: F.avg_pool2d(
        a, 3, 2, 1, count_include_pad=False), (2, 3, 7, 7)),
    Row("avg_pool_ceil", lambda a: F.avg_pool2d(a, 3, 2, 1, True),
        (2, 3, 8, 6)),
    Row("avg_pool_divisor", lambda a: F.avg_pool2d(
        a, 2, divisor_override=3), (2, 3, 6, 6)),
    Row("avg_pool3d", lambda a: F.avg_pool3d(a, 2), (1, 2, 4, 4, 2)),
    Row("adaptive_avg_pool1d", nn.AdaptiveAvgPool1d(3), (2, 3, 9)),
    Row("adaptive_avg_pool", nn.AdaptiveAvgPool2d(1), (2, 3, 5, 5)),
    Row("adaptive_avg_pool_sizes", nn.AdaptiveAvgPool2d((3, None)),
        (2, 3, 6, 5)),
    Row("adaptive_avg_pool3d", nn.AdaptiveAvgPool3d(2), (1, 2, 4, 4, 2)),
    Row("adaptive_max_pool", nn.AdaptiveMaxPool2d(2), (2, 3, 6, 4)),
    Row("adaptive_avg_pool_uneven", nn.AdaptiveAvgPool2d((3, 2)),
        (2, 3, 7, 5)),
    Row("adaptive_avg_pool_larger", nn.AdaptiveAvgPool1d(7), (2, 3, 5)),
    Row("adaptive_max_pool_uneven", nn.AdaptiveMaxPool2d((3, 2)),
        Distinct(2, 3, 7, 5)),
    Row("adaptive_max_pool_indices", nn.AdaptiveMaxPool2d(
        (3, 2), return_indices=True), Distinct(2, 3, 7, 5)),
    Row("max_pool_indices", nn.MaxPool2d(3, 2, 1, return_indices=True),
        Distinct(2, 3, 7, 6)),
    Row("max_pool_indices_dilated", nn.MaxPool2d(
        2, 2, dilation=2, ceil_mode=True, return_indices=True),
        Distinct(1, 2, 7, 6)),
    Row("max_pool3d_indices", nn.MaxPool3d(2, return_indices=True),
        Distinct(1, 2, 4, 4, 2)),
    Row("max_unpool", lambda a: F.max_unpool2d(
        *F.max_pool2d(a, 2, return_indices=True), 2), Distinct(2, 3, 6, 4)),
    Row("lp_pool", lambda a: F.lp_pool2d(a, 2, 2), (2, 3, 6, 6)),
]  # fmt: skip

NORMS = [
    Row("batch_norm_rank2", nn.BatchNorm1d(6), S),
    Row("batch_norm1d", nn.BatchNorm1d(3), (4, 3, 5)),
    Row("batch_norm", nn.BatchNorm2d(3), (4, 3, 5, 2)),
    Row("batch_norm3d", nn.BatchNorm3d(3), (2, 3, 2, 3, 2)),
    Row("batch_norm_momentum", nn.BatchNorm2d(3, 1e-3, 0.4), (4, 3, 5, 2)),
    Row("batch_norm_plain", nn.BatchNorm2d(3, affine=False), (4, 3, 5, 2)),
    Row("batch_norm_untracked", nn.BatchNorm2d(
        3, track_running_stats=False), (4, 3, 5, 2)),
    Row("batch_norm_eval", nn.BatchNorm2d(3).eval(), (4, 3, 5, 2)),
    Row("instance_norm1d", nn.InstanceNorm1d(3, affine=True), (2, 3, 5)),
    Row("instance_norm", nn.InstanceNorm2d(3), (2, 3, 5, 4)),
    Row("instance_norm_tracked", nn.InstanceNorm2d(
        3, affine=True, track_running_stats=True), (2, 3, 5, 4)),
    Row("instance_norm3d", nn.InstanceNorm3d(3), (2, 3, 2, 3, 2)),
    Row("group_norm", nn.GroupNorm(2, 4), (3, 4, 5, 5)),
    Row("group_norm_plain", nn.GroupNorm(2, 4, affine=False), (3, 4, 5)),
    Row("layer_norm", nn.LayerNorm(6), S),
    Row("layer_norm_two", nn.LayerNorm([3, 4]), (2, 3, 4)),
    Row("layer_norm_plain", nn.LayerNorm(6, elementwise_affine=False), S),
    Row("local_response_norm", nn.LocalResponseNorm(2), (2, 4, 3, 3)),
    Row("normalize", lambda a: F.normalize(a), S),
    Row("dropout_eval", nn.Dropout(0.5).eval(), S),
    Row("dropout_zero", nn.Dropout(0.0), S),
    Row("dropout2d_eval", nn.Dropout2d(0.5).eval(), (2, 3, 4, 4)),
]  # fmt: skip

IMAGES = [
    Row("nearest1d", resize("nearest", scale_factor=2), (2, 3, 4)),
    Row("nearest2d", resize("nearest", scale_factor=2), (2, 3, 4, 5)),
    Row("nearest2d_size", resize("nearest", size=(7, 3)), (2, 3, 4, 5)),
    Row("nearest2d_fraction", resize("nearest", scale_factor=1.5),
        (2, 3, 4, 5)),
    Row("nearest3d", resize("nearest", scale_factor=2), (1, 2, 2, 3, 2)),
    Row("nearest_exact", resize("nearest-exact", size=(7, 3)), (2, 3, 4, 5)),
    Row("bilinear2d", resize("bilinear", scale_factor=2), (2, 3, 4, 5)),
    Row("bilinear2d_size", resize("bilinear", size=(7, 3)), (2, 3, 4, 5)),
    Row("bicubic2d", resize("bicubic", scale_factor=2), (1, 2, 4, 5)),
    Row("linear1d", resize("linear", scale_factor=1.7), (2, 3, 4)),
    Row("trilinear3d", resize("trilinear", scale_factor=2), (1, 2, 2, 3, 2)),
    *(
        Row(f"{mode}_corners_{name}", resize(
            mode, align_corners=True, **arguments), (1, 2, 4, 5))
        for mode in ("bilinear", "bicubic")
        for name, arguments in (
            ("factor", {"scale_factor": 1.7}), ("size", {"size": (7, 1)}))
    ),
    Row("area", resize("area", size=(3, 2)), (2, 3, 4, 5)),
    *(
        Row(f"grid_sample_{mode}_{padding}_{corners}",
            lambda a, g, arguments=(mode, padding, corners): F.grid_sample(
                a, g, *arguments), (2, 3, 5, 4),
            Floats(2, 3, 6, 2, low=-1.4, high=1.4), half=False)
        for mode in ("bilinear", "nearest", "bicubic")
        for padding in ("zeros", "border", "reflection")
        for corners in (False, True)
    ),
    Row("grid_sample_3d", lambda a, g: F.grid_sample(
        a, g, align_corners=False), (1, 2, 3, 4, 5),
        Floats(1, 2, 3, 2, 3, low=-1.2, high=1.2), half=False),
    Row("affine_grid", lambda a, t: F.grid_sample(a, F.affine_grid(
        t, a.shape, align_corners=False), align_corners=False),
        (2, 3, 5, 4), Floats(2, 2, 3, low=-0.6, high=0.6), half=False),
    Row("upsample", nn.Upsample(scale_factor=3), (1, 2, 3, 2)),
    Row("pixel_shuffle", lambda a: F.pixel_shuffle(a, 2), (2, 8, 3, 2)),
    Row("pixel_unshuffle", lambda a: F.pixel_unshuffle(a, 2), (2, 2, 4, 6)),
    Row("channel_shuffle", lambda a: F.channel_shuffle(a, 2), (2, 4, 3, 2),
        gradient=False),
    Row("unfold", nn.Unfold((2, 3), 1, 1, (2, 1)), (2, 3, 6, 5)),
    Row("unfold_dilated", nn.Unfold(2, 2), (2, 3, 6, 5)),
    Row("fold", nn.Fold((6, 5), (2, 3), 1, 1, (2, 1)), (2, 18, 20)),
]  # fmt: skip

RECURRENT = [
    Row("lstm", Last(nn.LSTM(3, 4)), (5, 2, 3)),
    Row("lstm_batch_first", Last(nn.LSTM(3, 4, batch_first=True)),
        (2, 5, 3)),
    Row("lstm_state", WithState(nn.LSTM(3, 4)), (5, 2, 3), (1, 2, 4),
        (1, 2, 4)),
    Row("lstm_unbatched", Last(nn.LSTM(3, 4)), (5, 3)),
    Row("gru", Last(nn.GRU(3, 4)), (5, 2, 3)),
    Row("gru_batch_first", Last(nn.GRU(3, 4, batch_first=True)), (2, 5, 3)),
    Row("gru_no_bias", Last(nn.GRU(3, 4, bias=False)), (5, 2, 3)),
    Row("rnn", Last(nn.RNN(3, 4)), (5, 2, 3)),
    Row("rnn_relu", Last(nn.RNN(3, 4, nonlinearity="relu")), (5, 2, 3)),
    Row("rnn_batch_first", Last(nn.RNN(3, 4, batch_first=True)), (2, 5, 3)),
    Row("lstm_cell", nn.LSTMCell(3, 4), (2, 3)),
    Row("gru_cell", nn.GRUCell(3, 4), (2, 3)),
    Row("rnn_cell", nn.RNNCell(3, 4), (2, 3)),
]  # fmt: skip

test_product = rowTest(PRODUCTS)
test_linearAlgebra = rowTest(LINEAR_ALGEBRA)
test_convolution = rowTest(CONVOLUTIONS)
test_pool = rowTest(POOLS)
test_norm = rowTest(NORMS)
test_image = rowTest(IMAGES)
test_recurrent = rowTest(RECURRENT)
