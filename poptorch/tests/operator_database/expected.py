"""What is not as torch has it, by entry, with the reason. An entry is here if any
of its samples is refused, or gives something else; one that works is not."""


def _by(reason, names):
    return dict.fromkeys(names.split(), reason)


REFUSED = {
    **_by("the device has no complex numbers", """
fft.hfft fft.hfft2 fft.hfftn fft.irfft fft.irfft2 fft.irfftn istft stft
"""),
    **_by("values give the result its size", """
__getitem__ argwhere bincount combinations masked_select nonzero
repeat_interleave unique unique_consecutive
"""),
    **_by("Python would have to know values while the model is traced", """
cov narrow tensor_split
"""),
    **_by("samples name the CPU as the device", """
rand_like randint_like randn_like to
"""),
    **_by("orthogonal, singular, LU and LDL factors are not there yet", """
geqrf linalg.cond linalg.eigh linalg.eigvalsh linalg.householder_product
linalg.ldl_factor linalg.ldl_factor_ex linalg.ldl_solve linalg.lstsq
linalg.lstsq.grad_oriented linalg.lu linalg.lu_factor linalg.lu_factor_ex
linalg.lu_solve linalg.matrix_norm linalg.matrix_rank
linalg.matrix_rank.hermitian linalg.norm linalg.norm.subgradients_at_zero
linalg.pinv linalg.pinv.hermitian linalg.pinv.singular linalg.qr linalg.svd
linalg.svdvals lu lu_solve lu_unpack matrix_exp norm.nuc ormqr pca_lowrank
pinverse qr svd svd_lowrank symeig
"""),
    **_by("a function of mathematical physics or of number theory", """
gcd i0 igamma igammac lcm polygamma.polygamma_n_0 polygamma.polygamma_n_1
polygamma.polygamma_n_2 polygamma.polygamma_n_3 polygamma.polygamma_n_4
special.airy_ai special.bessel_j0 special.bessel_j1 special.bessel_y0
special.bessel_y1 special.chebyshev_polynomial_t
special.chebyshev_polynomial_u special.chebyshev_polynomial_v
special.chebyshev_polynomial_w special.erfcx special.hermite_polynomial_h
special.hermite_polynomial_he special.i0e special.i1 special.i1e
special.laguerre_polynomial_l special.legendre_polynomial_p special.log_ndtr
special.modified_bessel_i0 special.modified_bessel_i1
special.modified_bessel_k0 special.modified_bessel_k1
special.polygamma.special_polygamma_n_0 special.scaled_modified_bessel_k0
special.scaled_modified_bessel_k1 special.shifted_chebyshev_polynomial_t
special.shifted_chebyshev_polynomial_u special.shifted_chebyshev_polynomial_v
special.shifted_chebyshev_polynomial_w special.spherical_bessel_j0
special.zeta
"""),
    **_by("about the bits of numbers", "frexp nextafter"),
    **_by("samples have a negative epsilon", """
native_layer_norm nn.functional.group_norm nn.functional.layer_norm
"""),
    **_by("divisor_override together with ceil_mode", """
nn.functional.avg_pool2d nn.functional.avg_pool3d
"""),
    **_by("padding of the output beyond the stride", """
nn.functional.conv_transpose2d nn.functional.conv_transpose3d
"""),
    **_by("reduction='none'", "nn.functional.ctc_loss"),
    **_by("gradients scaled by frequency, or sparse", """
nn.functional.embedding nn.functional.embedding_bag
"""),
    **_by("rare, and not there yet", """
as_strided_scatter histogram histogramdd native_batch_norm
nn.functional.fractional_max_pool2d nn.functional.fractional_max_pool3d
segment_reduce.lengths segment_reduce.offsets
"""),
    **_by("gradients of sparse tensors", "to_sparse"),
}

DIFFERENT = {
    **_by("torch stops the gradient of a base that is a tensor", "__rpow__"),
    **_by("torch keeps a dimension that a scalar does not have", "aminmax"),
    **_by("torch's gradient is right behind log_softmax alone", """
nn.functional.ctc_loss
"""),
    **_by("torch gives gradients beyond the triangle, which is not read", """
cholesky_inverse cholesky_solve
"""),
    **_by("at poles, where this is infinite, torch has large numbers", """
polygamma.polygamma_n_0 polygamma.polygamma_n_1 polygamma.polygamma_n_2
polygamma.polygamma_n_3 polygamma.polygamma_n_4
special.polygamma.special_polygamma_n_0
"""),
}
