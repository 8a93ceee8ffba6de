"""JAX's side: PyTorch's layers in a row, as functions that are compiled whole.

Layers, weights and optimisers are read from the networks' own modules, so that
both sides compute the same. Networks that are not layers in a row are left out.
"""

import jax
import jax.numpy as jnp
from jax import lax
from networks import Network
from torch import nn


def convolve(layer: nn.Conv2d, p, x, _):
    y = lax.conv_general_dilated(
        x, p["weight"], layer.stride, [(n, n) for n in layer.padding],
        dimension_numbers=("NCHW", "OIHW", "NCHW"))
    return y + p["bias"][:, None, None]


def max_pool(layer: nn.MaxPool2d, _, x, __):
    size = (1, 1, layer.kernel_size, layer.kernel_size)
    return lax.reduce_window(x, -jnp.inf, lax.max, size, size, "VALID")


def group_norm(layer: nn.GroupNorm, p, x, _):
    groups = x.reshape(x.shape[0], layer.num_groups, -1)
    mean = groups.mean(2, keepdims=True)
    variance = groups.var(2, keepdims=True)
    normed = (groups - mean) / jnp.sqrt(variance + layer.eps)
    return (normed.reshape(x.shape) * p["weight"][:, None, None]
            + p["bias"][:, None, None])


def dropout(layer: nn.Dropout, _, x, key):
    if key is None or layer.p == 0:
        return x
    kept = jax.random.bernoulli(key, 1 - layer.p, x.shape)
    return jnp.where(kept, x / (1 - layer.p), 0)


RULES = {
    nn.Conv2d: convolve, nn.MaxPool2d: max_pool, nn.GroupNorm: group_norm,
    nn.Dropout: dropout,
    nn.ReLU: lambda _, __, x, ___: jnp.maximum(x, 0),
    nn.Flatten: lambda _, __, x, ___: x.reshape(x.shape[0], -1),
    nn.Linear: lambda _, p, x, __: x @ p["weight"].T + p["bias"],
    nn.LogSoftmax: lambda _, __, x, ___: jax.nn.log_softmax(x, axis=1),
}


def flat(layers: nn.Module) -> list[nn.Module]:
    if isinstance(layers, nn.Sequential):
        return [inner for layer in layers for inner in flat(layer)]
    return [layers]


def array(tensor):
    return jnp.asarray(tensor.detach().numpy())


class Layers:
    def __init__(self, network: Network, has_dropout: bool):
        self.modules = flat(network.make_layers(has_dropout))
        self.parameters = [{name: array(p) for name, p in m.named_parameters()}
                           for m in self.modules]

    def scores(self, parameters, x, key=None):
        for i, (module, own) in enumerate(zip(self.modules, parameters)):
            inner = None if key is None else jax.random.fold_in(key, i)
            x = RULES[type(module)](module, own, x, inner)
        return x


def sgd(settings, gradient, weight, state, step):
    velocity = settings.get("momentum", 0) * state["a"] + gradient
    return weight - settings["lr"] * velocity, dict(state, a=velocity)


def rmsprop(settings, gradient, weight, state, step):
    alpha = settings["alpha"]
    square = alpha * state["a"] + (1 - alpha) * gradient**2
    change = gradient / (jnp.sqrt(square) + settings["eps"])
    return weight - settings["lr"] * change, dict(state, a=square)


def adamw(settings, gradient, weight, state, step):
    mean = 0.9 * state["a"] + 0.1 * gradient
    square = 0.999 * state["b"] + 0.001 * gradient**2
    root = jnp.sqrt(square / (1 - 0.999**step)) + 1e-8
    weight = weight * (1 - settings["lr"] * 0.01)
    change = mean / (1 - 0.9**step) / root
    return weight - settings["lr"] * change, dict(a=mean, b=square)


UPDATES = {"SGD": sgd, "RMSprop": rmsprop, "AdamW": adamw}


class JaxTraining:
    def __init__(self, network: Network, inputs, labels, *, dropout: bool):
        self.layers = Layers(network, dropout)
        self.batches = [(array(x), array(y)) for x, y in zip(inputs, labels)]
        self.accumulation = network.accumulation
        self.weights = self.layers.parameters
        self.sums = jax.tree_util.tree_map(jnp.zeros_like, self.weights)
        self.states = jax.tree_util.tree_map(
            lambda w: dict(a=jnp.zeros_like(w), b=jnp.zeros_like(w)),
            self.weights)
        self.update_one = UPDATES[network.optimizer]
        self.settings = network.hyperparameters
        self.key = jax.random.PRNGKey(3)
        self.next = 0
        self.gradients = jax.jit(self.add_gradients, donate_argnums=1)
        self.update = jax.jit(self.new_weights, donate_argnums=(0, 1, 2))

    def add_gradients(self, weights, sums, x, y, count):
        key = jax.random.fold_in(self.key, count)

        def loss_of(w):
            scores = self.layers.scores(w, x, key)
            return -jnp.take_along_axis(scores, y[:, None], 1).mean()

        loss, gradients = jax.value_and_grad(loss_of)(weights)
        return loss, jax.tree_util.tree_map(
            lambda s, g: s + g / self.accumulation, sums, gradients)

    def new_weights(self, weights, states, sums, step):
        leaves, tree = jax.tree_util.tree_flatten(weights)
        changed = [self.update_one(self.settings, g, w, s, step)
                   for w, s, g in zip(leaves, tree.flatten_up_to(states),
                                      tree.flatten_up_to(sums))]
        return (tree.unflatten([w for w, _ in changed]),
                tree.unflatten([s for _, s in changed]),
                jax.tree_util.tree_map(jnp.zeros_like, sums))

    def run(self, count: int) -> list[float]:
        for _ in range(count):
            x, y = self.batches[self.next % len(self.batches)]
            self.next += 1
            loss, self.sums = self.gradients(self.weights, self.sums, x, y,
                                             self.next)
            if self.next % self.accumulation == 0:
                self.weights, self.states, self.sums = self.update(
                    self.weights, self.states, self.sums,
                    self.next // self.accumulation)
        return [float(loss)]
