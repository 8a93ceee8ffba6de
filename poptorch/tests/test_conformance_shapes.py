# Operators that move elements: views, joins, slices, padding, indexing.
import torch
import torch.nn.functional as F
from conformance_rows import Distinct, Given, Integers, Row, rowTest
from torch import nn

torch.manual_seed(0)  # the weights of the modules below

S = (4, 6)
T = (2, 3, 4)


def update(body):
    """`body` changes a copy of its first argument in place."""

    def function(a, *others):
        copied = a * 1
        body(copied, *others)
        return copied

    return function


def setSlice(a):
    a[1:3, 2:] = 7.0


def setStep(a):
    a[:, ::2] = -1.0


def setTensor(a, b):
    a[1] = b


def setMask(a):
    a[a > 0] = 0.5


def setIndices(a, i, b):
    a[i] = b


def setRows(a, m, b):
    a[m] = b


def setBehind(a, m, b):
    a[:, m] = b


def diagonal(a):
    a.diagonal().fill_(9.0)


def windows(a):
    a.unfold(1, 2, 2).mul_(2.0)


def strided(a):
    a.as_strided((2, 3), (1, 2), 3).add_(1.0)


def squeezed(a):
    a.unsqueeze_(1).squeeze_().squeeze_(0)
    a[0] = 1.0


def swapped(a):
    a.transpose_(0, 1).swapaxes_(0, 2).swapdims_(1, 2)
    a[0] = 1.0


def givenOut(function, *types):
    """The call with out=, into tensors of other sizes."""

    def call(*args):
        out = [torch.empty(0, dtype=t) for t in types]
        function(*args, out=out[0] if len(out) == 1 else tuple(out))
        return out

    return call


VIEWS = [
    Row("view", lambda a: a.view(2, -1) * 2, S),
    Row("reshape", lambda a: a.t().reshape(-1) * 2, S),
    Row("flatten", lambda a: a.flatten(1) * 2, T),
    Row("permute", lambda a: a.permute(2, 0, 1) * 2, T),
    Row("transpose", lambda a: a.transpose(-1, 0) * 2, T),
    Row("numpy_T", lambda a: a.T * 2, S),
    Row("movedim", lambda a: a.movedim(0, 2) * 2, T),
    Row("squeeze", lambda a: a.unsqueeze(1).squeeze() * 2, S),
    Row("squeeze_dim", lambda a: a.unsqueeze(0).squeeze(0) * 2, S),
    Row("contiguous", lambda a: a.t().contiguous().view(-1), S),
    Row("expand", lambda a: a.expand(5, -1, 6) * 2, (4, 1)),
    Row("expand_as", lambda a, b: a.expand_as(b) * b, (1, 6), S),
    Row("broadcast_to", lambda a: torch.broadcast_to(a, (3, 4, 6)) * 2, S),
    Row("repeat", lambda a: a.repeat(2, 1, 3), S),
    Row("tile", lambda a: a.tile(2), S),
    Row("repeat_interleave", lambda a: a.repeat_interleave(3, 1), S),
    Row("type_as", lambda a, b: a.type_as(b), S, Integers(*S)),
    Row("to_integers", lambda a: a.to(torch.int32), S),
    Row("to_bool", lambda a: a.bool(), Integers(*S)),
    Row("to_float", lambda a: a.float(), Integers(*S, high=9)),
    Row("to_half_and_back", lambda a: a.half().float(), S, gradient=False,
        half=False),
    Row("clone", lambda a: a.clone() * 2, S),
    Row("meshgrid", lambda a, b: torch.meshgrid(a, b, indexing="ij"),
        (4,), (3,)),
    Row("cartesian_prod", torch.cartesian_prod, (4,), (3,)),
    Row("unsqueeze_", update(squeezed), S),
    Row("squeeze_", lambda a: (a * 1).squeeze_(1) + 1, (3, 1, 2)),
    Row("t_", lambda a: (a * 1).t_() * 2, S),
    Row("transpose_", update(swapped), T),
    Row("resize_", lambda a: (a * 1).resize_(3, 5) * 2, S,
        gradient=False),
    Row("resize_as_", lambda a, b: (a * 1).resize_as_(b) + b, S, (2, 2),
        gradient=False),
    Row("resize_of_a_transposed", lambda a: (a * 1).t_().resize_(5) * 2, S,
        gradient=False),
    Row("set_", lambda a, b: (a * 1).set_(b * 2) + b, S, T,
        gradient=False),
    Row("as_strided", lambda a: a.as_strided((3, 2), (1, 3), 2) * 2, S),
    Row("as_strided_", lambda a: (a * 1).as_strided_((3, 4), (4, 1)) * 2, S),
    Row("diagonal", lambda a: torch.diagonal(a, 1) * 2, S),
    Row("diagonal_dims", lambda a: a.diagonal(0, 0, 2) * 2, T),
]  # fmt: skip

JOINS = [
    Row("cat", lambda a, b: torch.cat([a, b]), S, (2, 6)),
    Row("cat_last", lambda a, b: torch.cat([a, b, a], -1), T, (2, 3, 1)),
    Row("cat_types", lambda a, b: torch.cat([a, b]), S, Integers(2, 6)),
    Row("cat_integers", lambda a, b: torch.cat([a, b]), Integers(*S),
        Integers(2, 6)),
    Row("stack", lambda a, b: torch.stack([a, b]), S, S),
    Row("stack_last", lambda a, b: torch.stack([a, b], -1), S, S),
    Row("hstack", lambda a, b: torch.hstack([a, b]), S, S),
    Row("vstack", lambda a, b: torch.vstack([a, b]), S, S),
    Row("split", lambda a: a.split(2, 1), (3, 5)),
    Row("split_sizes", lambda a: a.split([1, 3, 2], 1), S),
    Row("chunk", lambda a: a.chunk(3), (7, 2)),
    Row("tensor_split", lambda a: a.tensor_split(3, 1), (2, 7)),
    Row("unbind", lambda a: a.unbind(1), (2, 3)),
]  # fmt: skip

SLICES = [
    Row("slice", lambda a: a[1:3], S),
    Row("slice_step", lambda a: a[:, 1::2], S),
    Row("slice_negative", lambda a: a[-3:-1, -2:], S),
    Row("slice_beyond", lambda a: a[2:100], S),
    Row("slice_integers", lambda a: a[1:, :2], Integers(*S, high=9)),
    Row("slice_bool", lambda a: (a > 0)[1:], S),
    Row("select", lambda a: a[1, :, -1], T),
    Row("narrow", lambda a: a.narrow(1, 2, 3), S),
    Row("ellipsis", lambda a: a[..., None, 1], T),
    Row("flip", lambda a: a.flip(0, 2), T),
    Row("fliplr", torch.fliplr, S),
    Row("roll", lambda a: a.roll(2), S),
    Row("roll_dims", lambda a: a.roll((1, -2), (0, 1)), S),
    Row("roll_more", lambda a: a.roll(9, 1), S),
    Row("tril", lambda a: a.tril(), S),
    Row("triu", lambda a: a.triu(1), T),
    Row("tril_integers", lambda a: a.tril(-1), Integers(*S, high=9)),
    Row("unfold", lambda a: a.unfold(1, 3, 2), (2, 7, 3)),
    Row("unfold_last", lambda a: a.unfold(-1, 2, 1), S),
    Row("set_slice", update(setSlice), S),
    Row("set_step", update(setStep), S),
    Row("set_tensor", update(setTensor), S, (6,)),
    Row("set_diagonal", update(diagonal), (4, 4)),
    Row("set_windows", update(windows), S),
    Row("set_strided", update(strided), S),
    Row("fill_diagonal", lambda a: (a * 1).fill_diagonal_(2.5), S),
    Row("fill_diagonal_wrapped", lambda a: (a * 1).fill_diagonal_(
        2.5, wrap=True), (7, 2)),
    Row("fill_diagonal_of_a_cube", lambda a: (a * 1).fill_diagonal_(1.5),
        (3, 3, 3)),
    Row("select_scatter", lambda a, b: a.select_scatter(b, 1, 2), S, (4,)),
    Row("slice_scatter", lambda a, b: a.slice_scatter(b, 1, 1, 5, 2), S,
        (4, 2)),
    Row("diagonal_scatter", lambda a, b: a.diagonal_scatter(b), (4, 4),
        (4,)),
]  # fmt: skip

PADS = [
    Row("zero_pad", nn.ZeroPad2d((1, 2, 0, 3)), (2, 2, 3, 4)),
    Row("constant_pad1d", nn.ConstantPad1d(2, 3.5), T),
    Row("constant_pad2d", nn.ConstantPad2d((1, 0, 2, 1), -1.0), T),
    Row("constant_pad3d", nn.ConstantPad3d(1, 0.5), (1, 2, 2, 3, 2)),
    Row("constant_pad_negative", lambda a: F.pad(a, (-1, 2)), S),
    Row("constant_pad_integers", lambda a: F.pad(a, (1, 1), value=4),
        Integers(*S, high=9)),
    Row("reflection_pad1d", nn.ReflectionPad1d((2, 1)), T),
    Row("reflection_pad2d", nn.ReflectionPad2d((2, 1, 0, 2)), (2, 2, 4, 5)),
    Row("replication_pad1d", nn.ReplicationPad1d((3, 1)), T),
    Row("replication_pad2d", nn.ReplicationPad2d((3, 1, 0, 2)), (1, 2, 3, 4)),
    Row("replication_pad3d", nn.ReplicationPad3d(1), (1, 2, 2, 3, 4)),
    Row("circular_pad", lambda a: F.pad(a, (1, 2), mode="circular"), T),
]  # fmt: skip

INDICES = [
    Row("index_select", lambda a, i: a.index_select(1, i), S,
        Integers(5, high=6)),
    Row("index_select_integers", lambda a, i: a.index_select(0, i),
        Integers(*S, high=9), Integers(3, high=4)),
    Row("gather", lambda a, i: a.gather(1, i), S, Integers(4, 3, high=6)),
    Row("gather_first", lambda a, i: a.gather(0, i), T,
        Integers(3, 2, 4, high=2)),
    Row("take_along_dim", lambda a, i: a.take_along_dim(i, 1), S,
        Integers(4, 2, high=6)),
    Row("index", lambda a, i: a[i], S, Integers(5, high=4)),
    Row("index_matrix", lambda a, i: a[i], S, Integers(2, 3, high=4)),
    Row("index_negative", lambda a, i: a[:, i], S,
        Integers(5, low=-6, high=6)),
    Row("index_two", lambda a, i, j: a[i, j], T, Integers(5, high=2),
        Integers(5, high=3)),
    Row("index_broadcast", lambda a, i, j: a[:, i, j], T,
        Integers(5, 1, high=3), Integers(2, high=4)),
    Row("index_apart", lambda a, i, j: a[i, :, j], T, Integers(5, high=2),
        Integers(5, high=4)),
    Row("index_mixed", lambda a, i: a[1, :, i], T, Integers(3, high=4)),
    Row("index_put", update(setIndices), S, Given([2, 0]), (2, 6)),
    Row("index_put_broadcast", update(setIndices), S, Given([2, 0]), (6,)),
    Row("index_put_two", lambda a, i, j, b: torch.index_put(a, (i, j), b), S,
        Given([2, 0, 2]), Given([1, 1, 5]), (3,)),
    Row("index_put_accumulate", lambda a, i, b: torch.index_put(
        a, (i,), b, accumulate=True), S, Given([2, 0, 2]), (3, 6)),
    Row("index_put_mask", update(setMask), S),
    Row("index_list", lambda a: a[[0, 2]], S),
    Row("index_lists_and_slices", lambda a: a[:, [0, 2, 2], 1:5:2], T),
    Row("index_range", lambda a: a[range(3)], S),
    Row("index_mask_of_bytes", lambda a: a[torch.tensor(
        [1, 0, 1, 1], dtype=torch.uint8)], S),
    Row("index_number_of_the_run", lambda a, i: a[:, i, 1:], T,
        Given(-2)),
    Row("index_put_mask_of_bytes", update(setRows), S,
        Given([[1, 0, 0, 1, 1, 0]] * 4, torch.uint8), Given(2.0)),
    Row("index_put_mask_row", update(setRows), S,
        Given([True, False, True, True]), (6,)),
    Row("index_put_mask_rows", update(setRows), S,
        Given([False, True, True, False]), (2, 6)),
    Row("index_put_mask_behind", update(setBehind), T,
        Given([True, False, True]), (2, 2, 4)),
    Row("masked_select_known", lambda a: a.masked_select(torch.tensor(
        [True, False, True, True, False, False])), S),
    Row("masked_scatter", lambda a, m, b: a.masked_scatter(m, b), S,
        Given([True, False, False, True, True, False]), (3, 5)),
    Row("index_fill", lambda a, i: a.index_fill(1, i, 3.0), S,
        Given([0, 4])),
    Row("index_fill_inplace", update(lambda a, i: a.index_fill_(0, i, -1.0)),
        S, Given([3])),
    Row("index_add", lambda a, i, b: a.index_add(1, i, b, alpha=2), S,
        Given([0, 4, 0]), (4, 3)),
    Row("index_copy", lambda a, i, b: a.index_copy(0, i, b), S,
        Given([3, 1]), (2, 6)),
    Row("scatter", lambda a, i, b: a.scatter(1, i, b), S,
        Given([[0, 2], [1, 3], [5, 4], [0, 1]]), (4, 2)),
    Row("scatter_of_more", lambda a, i, b: a.scatter(1, i, b), S,
        Integers(4, 1, high=6), (4, 3), gradient=False),
    Row("scatter_value", lambda a, i: a.scatter(1, i, 2.5), S,
        Integers(4, 2, high=6)),
    Row("scatter_reduce_add", lambda a, i, b: a.scatter(
        1, i, b, reduce="add"), S, Integers(4, 3, high=6), (4, 3),
        gradient=False),
    Row("scatter_add", lambda a, i, b: a.scatter_add(1, i, b), S,
        Integers(4, 9, high=6), (4, 9)),
    Row("scatter_add_first", lambda a, i, b: a.scatter_add(0, i, b), S,
        Integers(7, 6, high=4), (7, 6)),
    *(
        Row(f"scatter_reduce_{reduce}_{include}",
            lambda a, i, b, reduce=reduce, include=include: a.scatter_reduce(
                1, i, b, reduce, include_self=include),
            Distinct(*S, low=0.3),
            Given([[0, 2, 0], [1, 3, 5], [5, 5, 5], [0, 1, 2]]),
            Distinct(4, 3, low=0.3, high=1.7))
        for reduce in ("sum", "mean", "amax", "amin", "prod")
        for include in (True, False)
    ),
    *(
        Row(f"scatter_reduce_{reduce}_of_fewer",
            lambda a, i, b, reduce=reduce: a.scatter_reduce(1, i, b, reduce),
            Distinct(2, *S, low=0.3), Given([[[0, 2, 0], [1, 3, 3]]]),
            Distinct(2, 3, 4, low=0.3, high=1.7), gradient=False)
        for reduce in ("sum", "mean", "amax", "amin", "prod")
    ),
    Row("scatter_reduce_multiply", lambda a, i, b: a.scatter(
        1, i, b, reduce="multiply"), S, Integers(4, 3, high=6), (4, 3),
        gradient=False),
    Row("index_reduce_amax", lambda a, i, b: a.index_reduce(
        0, i, b, "amax"), Distinct(*S), Given([2, 0, 2]), Distinct(3, 6)),
    Row("index_reduce_prod", lambda a, i, b: a.index_reduce(
        1, i, b, "prod", include_self=False), Distinct(*S), Given([2, 0, 2]),
        Distinct(4, 3), gradient=False),
    Row("embedding", lambda i, w: F.embedding(i, w), Integers(3, 2, high=5),
        (5, 4)),
    Row("embedding_module", nn.Embedding(5, 4), Integers(7, high=5)),
    Row("embedding_bag_sum", lambda i, w: F.embedding_bag(
        i, w, torch.tensor([0, 2, 5]), mode="sum"), Integers(8, high=5),
        (5, 4)),
    Row("embedding_bag_mean", lambda i, w: F.embedding_bag(i, w),
        Integers(3, 4, high=5), (5, 4)),
    Row("embedding_bag_max", lambda i, w: F.embedding_bag(i, w, mode="max"),
        Integers(3, 4, high=5), (5, 4)),
    Row("embedding_bag_weights", lambda i, w, s: F.embedding_bag(
        i, w, per_sample_weights=s, mode="sum"), Integers(3, 4, high=5),
        (5, 4), (3, 4)),
    *(
        Row(f"embedding_bag_{mode}_of_offsets", lambda i, w, o, mode=mode:
            F.embedding_bag(i, w, o, mode=mode, padding_idx=2),
            Integers(8, high=5), Distinct(5, 4), Given([0, 2, 2, 5]))
        for mode in ("sum", "mean", "max")
    ),
    Row("embedding_bag_last_offset", lambda i, w, o: F.embedding_bag(
        i, w, o, include_last_offset=True), Integers(8, high=5), (5, 4),
        Given([0, 2, 8])),
    Row("embedding_max_norm", lambda i, w: F.embedding(
        i, w * 1, max_norm=1.5), Integers(3, high=5), (5, 4),
        gradient=False),
    Row("one_hot", lambda i: F.one_hot(i, 5), Integers(3, 2, high=5)),
    Row("bincount", lambda i: torch.bincount(i, minlength=6),
        Given([0, 5, 2, 2, 5, 5])),
    Row("bincount_weights", lambda i, w: torch.bincount(i, w, 6),
        Given([0, 5, 2, 2, 5, 5]), (6,), gradient=False, half=False),
    Row("bucketize_out", givenOut(torch.bucketize, torch.int64), S,
        Given([-1.0, 0.0, 0.5, 1.0]), half=False),
    Row("add_out", givenOut(torch.add, torch.float32), S, S, gradient=False,
        half=False),
    Row("max_out", givenOut(lambda a, out: torch.max(a, 1, out=out),
        torch.float32, torch.int64), S, gradient=False, half=False),
    Row("cat_out", givenOut(lambda *a, out: torch.cat(a, out=out),
        torch.float32), S, (2, 6), gradient=False, half=False),
    Row("arange_out", lambda a: a + torch.arange(6, out=torch.empty(6)), S),
    Row("bucketize", lambda a, b: torch.bucketize(a, b), S,
        Given([-1.0, 0.0, 0.5, 1.0]), half=False),
    Row("bucketize_right", lambda a, b: torch.bucketize(a, b, right=True),
        Integers(*S, high=6), Given([1, 2, 4])),
]  # fmt: skip

MATRICES = [
    Row("diag_of_vector", torch.diag, (4,)),
    Row("diag_of_matrix", lambda a: torch.diag(a, 1), S),
    Row("diag_embed", lambda a: torch.diag_embed(a, -1, 0, 2), (2, 3)),
    Row("trace", torch.trace, S),
    Row("block_diag", torch.block_diag, (2, 3), (4,), ()),
    *(
        Row(f"rot90_{k}", lambda a, k=k: torch.rot90(a, k), S)
        for k in range(4)
    ),
    Row("vdot", torch.vdot, (5,), (5,)),
    Row("take", lambda a, i: a.take(i), S, Given([[0, 23], [-1, 7]])),
    Row("put", lambda a, i, b: a.put(i, b), S, Given([0, 23, 7]), (3,)),
    Row("put_sum", lambda a, i, b: a.put(i, b, accumulate=True), S,
        Given([0, 7, 7]), (3,)),
    Row("masked_scatter", lambda a, b: a.masked_scatter(a.detach() > 0, b),
        S, S),
    Row("as_strided", lambda a: a.as_strided((2, 3), (2, 5), 1), S,
        gradient=False),
    Row("repeat_interleave_sizes", lambda a, n: a.repeat_interleave(
        n, 0, output_size=6), S, Given([2, 0, 1, 3])),
]  # fmt: skip

CREATED = [
    Row("arange", lambda a: a + torch.arange(6), S),
    Row("arange_step", lambda a: a * torch.arange(0.5, 3.5, 0.5), S),
    Row("linspace", lambda a: a * torch.linspace(0, 1, 6), S),
    Row("full", lambda a: a + torch.full((4, 6), 2.5), S),
    Row("full_like", lambda a: a + torch.full_like(a, 2.5), S),
    Row("ones", lambda a: a + torch.ones(6), S),
    Row("ones_like", lambda a: a + torch.ones_like(a), S),
    Row("zeros", lambda a: torch.cat([a, torch.zeros(1, 6)]), S, half=False),
    Row("zeros_like", lambda a: torch.cat([a, torch.zeros_like(a)]), S),
    Row("new_ones", lambda a: a + a.new_ones(6), S),
    Row("new_zeros", lambda a: torch.cat([a, a.new_zeros(1, 6)]), S),
    Row("new_tensor", lambda a: a + a.new_tensor([1, 2, 3, 4, 5, 6]), S),
    Row("new", lambda a: a + a.new([1, 2, 3, 4, 5, 6]) + a.new(6).fill_(2), S),
    Row("new_full", lambda a: a + a.new_full((6,), 3.0), S),
    Row("eye", lambda a: a @ torch.eye(6), S, half=False),
    Row("tensor", lambda a: a * torch.tensor([1.0, 2.0] * 3), S),
    Row("triu_constant", lambda a: a + torch.ones(4, 6).triu(1), S),
    Row("fill", lambda a: (a * 1).fill_(3.0) + a, S),
    Row("fill_tensor", lambda a, b: (a * 1).fill_(b) + a, S, ()),
    Row("empty_filled", lambda a: a + torch.empty(6).fill_(2.0), S),
]

test_view = rowTest(VIEWS)
test_join = rowTest(JOINS)
test_slice = rowTest(SLICES)
test_pad = rowTest(PADS)
test_index = rowTest(INDICES)
test_matrix = rowTest(MATRICES)
test_created = rowTest(CREATED)
