# Optimisers: torch's classes with the extra attributes that the device takes,
# and what the backend is told about them.
import math
import warnings

import torch

from ._optimizer_state import OptimizerState

_REQUIRED = object()


class VariableAttributes:
    """Which attributes may change after the model is compiled."""

    def __init__(self, variable_attributes, allowed_attributes):
        self._variable = set(variable_attributes)
        self._allowed = list(allowed_attributes)

    def _check(self, name):
        assert name in self._allowed, (
            f"Unknown attribute {name}, allowed values: {self._allowed}"
        )

    def isConstant(self, name):
        self._check(name)
        return name not in self._variable

    def markAsConstant(self, name):
        self._check(name)
        self._variable.discard(name)

    def markAsVariable(self, name):
        self._check(name)
        self._variable.add(name)


class Optimizer(OptimizerState):
    """Mixin of the optimisers below."""

    def _start(self, given, allowed):
        """Explicitly given attributes are variable, the rest constant."""
        self.variable_attrs = VariableAttributes(
            [name for name, value in given.items() if value is not None],
            allowed,
        )


def _given(**arguments):
    return {k: v for k, v in arguments.items() if v is not None}


def _checkAccumTypes(*types):
    for dtype in types:
        assert dtype in (torch.float32, torch.float16), (
            "Accumulation types must be either torch.float32 or torch.float16"
        )


class SGD(Optimizer, torch.optim.SGD):
    """Stochastic gradient descent; accumulator and momentum are separate
    tensors unless `use_combined_accum`."""

    def __init__(
        self,
        params,
        lr=_REQUIRED,
        momentum=None,
        dampening=None,
        weight_decay=None,
        nesterov=None,
        maximize=None,
        foreach=None,
        differentiable=None,
        loss_scaling=None,
        velocity_scaling=None,
        use_combined_accum=False,
        accum_type=None,
        velocity_accum_type=None,
        max_grad_norm=None,
    ):
        if lr is _REQUIRED:
            raise ValueError("SGD: the learning rate lr is required")
        torch.optim.SGD.__init__(
            self,
            params,
            lr=lr,
            **_given(
                momentum=momentum,
                dampening=dampening,
                weight_decay=weight_decay,
                nesterov=nesterov,
                maximize=maximize,
                foreach=foreach,
                differentiable=differentiable,
            ),
        )
        if velocity_scaling is not None and not use_combined_accum:
            warnings.warn(
                "velocity_scaling is ignored unless use_combined_accum is set"
            )
        self.use_combined_accum = use_combined_accum
        self.loss_scaling = 1.0 if loss_scaling is None else loss_scaling
        self.accum_type = accum_type or torch.float32
        self.velocity_accum_type = velocity_accum_type or torch.float32
        _checkAccumTypes(self.accum_type, self.velocity_accum_type)
        self.max_grad_norm = _maxNorm(max_grad_norm)
        velocity = 1.0 if velocity_scaling is None else velocity_scaling
        self.defaults["velocity_scaling"] = velocity
        for group in self.param_groups:
            group.setdefault("velocity_scaling", velocity)
        given = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "loss_scaling": loss_scaling,
            "velocity_scaling": velocity_scaling,
            "max_grad_norm": max_grad_norm,
        }
        self._start(given, given)


class _AdamFamily(Optimizer):
    def _startAdam(
        self, given, loss_scaling, accum_type, first, second, max_grad_norm
    ):
        self.loss_scaling = 1.0 if loss_scaling is None else loss_scaling
        self.accum_type = accum_type or torch.float32
        self.first_order_momentum_accum_type = first or torch.float32
        self.second_order_momentum_accum_type = second or torch.float32
        _checkAccumTypes(
            self.accum_type,
            self.first_order_momentum_accum_type,
            self.second_order_momentum_accum_type,
        )
        self.max_grad_norm = _maxNorm(max_grad_norm)
        given = {
            **given,
            "loss_scaling": loss_scaling,
            "max_grad_norm": max_grad_norm,
        }
        self._start(given, given)


def _requireNoAmsgrad(amsgrad):
    if amsgrad:
        raise ValueError(
            "Only non-amsgrad Adam/AdamW optimizers are supported."
        )


class Adam(_AdamFamily, torch.optim.Adam):
    """Adam, the weight decay added to the gradient."""

    def __init__(
        self,
        params,
        lr=None,
        betas=None,
        eps=None,
        weight_decay=None,
        amsgrad=None,
        foreach=None,
        maximize=None,
        capturable=None,
        differentiable=None,
        fused=None,
        loss_scaling=None,
        accum_type=None,
        first_order_momentum_accum_type=None,
        second_order_momentum_accum_type=None,
        max_grad_norm=None,
    ):
        _requireNoAmsgrad(amsgrad)
        given = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
        }
        torch.optim.Adam.__init__(self, params, **_given(**given))
        self._startAdam(
            given,
            loss_scaling,
            accum_type,
            first_order_momentum_accum_type,
            second_order_momentum_accum_type,
            max_grad_norm,
        )


class AdamW(_AdamFamily, torch.optim.AdamW):
    """Adam with decoupled weight decay."""

    def __init__(
        self,
        params,
        lr=None,
        betas=None,
        eps=None,
        weight_decay=None,
        amsgrad=None,
        maximize=None,
        foreach=None,
        capturable=None,
        differentiable=None,
        fused=None,
        loss_scaling=None,
        bias_correction=True,
        accum_type=None,
        first_order_momentum_accum_type=None,
        second_order_momentum_accum_type=None,
        max_grad_norm=None,
    ):
        _requireNoAmsgrad(amsgrad)
        given = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
        }
        torch.optim.AdamW.__init__(self, params, **_given(**given))
        self.bias_correction = bias_correction
        self._startAdam(
            given,
            loss_scaling,
            accum_type,
            first_order_momentum_accum_type,
            second_order_momentum_accum_type,
            max_grad_norm,
        )


class RMSprop(_AdamFamily, torch.optim.RMSprop):
    """RMSprop; `use_tf_variant` puts eps under the root."""

    def __init__(
        self,
        params,
        lr=None,
        alpha=None,
        eps=None,
        weight_decay=None,
        momentum=None,
        centered=None,
        foreach=None,
        maximize=None,
        differentiable=None,
        loss_scaling=None,
        accum_type=None,
        first_order_momentum_accum_type=None,
        second_order_momentum_accum_type=None,
        use_tf_variant=False,
    ):
        given = {
            "lr": lr,
            "alpha": alpha,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum": momentum,
        }
        torch.optim.RMSprop.__init__(
            self, params, **_given(centered=centered, **given)
        )
        self.use_tf_variant = use_tf_variant
        self._startAdam(
            given,
            loss_scaling,
            accum_type,
            first_order_momentum_accum_type,
            second_order_momentum_accum_type,
            None,
        )


class LAMB(_AdamFamily, torch.optim.Optimizer):
    """Layer-wise adaptive moments."""

    def __init__(
        self,
        params,
        lr=None,
        betas=None,
        eps=None,
        weight_decay=None,
        bias_correction=True,
        loss_scaling=None,
        max_weight_norm=None,
        accum_type=None,
        first_order_momentum_accum_type=None,
        second_order_momentum_accum_type=None,
    ):
        given = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "max_weight_norm": max_weight_norm,
        }
        defaults = {
            "lr": 1e-3,
            "betas": (0.9, 0.999),
            "eps": 1e-8,
            "weight_decay": 1e-2,
            "max_weight_norm": 65500.0,
        }
        torch.optim.Optimizer.__init__(
            self, params, {**defaults, **_given(**given)}
        )
        self.bias_correction = bias_correction
        self._startAdam(
            given,
            loss_scaling,
            accum_type,
            first_order_momentum_accum_type,
            second_order_momentum_accum_type,
            None,
        )


    @torch.no_grad()
    def step(self, closure=None):
        """What the device does, on the host."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._update(parameter, group)
        return loss

    def _update(self, parameter, group):
        state = self.state[parameter]
        if not state:
            state["step"] = 0
            state["exp_avg"] = torch.zeros_like(parameter)
            state["exp_avg_sq"] = torch.zeros_like(parameter)
        state["step"] += 1
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        beta1, beta2 = group["betas"]
        mean.lerp_(parameter.grad, 1 - beta1)
        square.mul_(beta2).addcmul_(
            parameter.grad, parameter.grad, value=1 - beta2
        )
        if self.bias_correction:
            mean = mean / (1 - beta1 ** state["step"])
            square = square / (1 - beta2 ** state["step"])
        direction = mean / (square.sqrt() + group["eps"])
        direction += group["weight_decay"] * parameter
        weight = parameter.norm().clamp(max=group["max_weight_norm"])
        length = direction.norm()
        trust = weight / length if weight > 0 and length > 0 else 1.0
        parameter -= group["lr"] * trust * direction


def _maxNorm(value):
    if value is None:
        return math.inf
    if math.isnan(value):
        raise ValueError("Maximum norm of gradients cannot be NaN")
    return value
