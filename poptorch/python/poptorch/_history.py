# What gradients go through where values change aside from autograd.


def withHistory(tracer, before, number, meta):
    """The value `number` with the gradient of the value `before`: what
    changes it aside from autograd makes another value of one variable."""
    old = ("tensor", before)
    detached = tracer.recordOne("aten::detach", [old], meta, False)
    nothing = tracer.recordOne(
        "aten::sub.Tensor", [old, ("tensor", detached), 1], meta, True
    )
    return tracer.recordOne(
        "aten::add.Tensor",
        [("tensor", number), ("tensor", nothing), 1],
        meta,
        True,
    )
