"""Trains a small residual network with replicas that several processes share.

    poprun --num-instances=2 --num-replicas=4 python3 popdist_training.py

starts two processes with two replicas each. Without poprun one process runs all
replicas, and ends with the same weights, bit by bit:

    python3 popdist_training.py --replicas 4
"""

import argparse

import popdist
import popdist.poptorch
import poptorch
import torch
from torch import nn

SAMPLES_PER_REPLICA = 8
CLASSES = 4


class Block(nn.Module):
    """Two convolutions around which the input goes, too."""

    def __init__(self, channels):
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        y = torch.relu(self.norm1(self.first(x)))
        return torch.relu(x + self.norm2(self.second(y)))


class Network(nn.Module):
    """Returns the loss as well when it is given labels."""

    def __init__(self, channels=8):
        super().__init__()
        self.stem = nn.Conv2d(1, channels, 3, padding=1)
        self.blocks = nn.Sequential(Block(channels), Block(channels))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(channels, CLASSES)
        self.loss = nn.NLLLoss()

    def forward(self, x, labels=None):
        x = self.pool(self.blocks(self.stem(x)))
        scores = torch.log_softmax(self.head(x.flatten(1)), dim=1)
        if labels is None:
            return scores
        return scores, self.loss(scores, labels)


def batch(step, replicas):
    """Pictures with one bright quarter each, for all replicas; the label says
    which. All processes make the same ones."""
    generator = torch.Generator().manual_seed(step)
    count = replicas * SAMPLES_PER_REPLICA
    pictures = torch.randn(count, 1, 8, 8, generator=generator)
    labels = torch.randint(CLASSES, (count,), generator=generator)
    for picture, label in zip(pictures, labels):
        row, column = divmod(int(label), 2)
        picture[0, 4 * row : 4 * row + 4, 4 * column : 4 * column + 4] += 1
    return pictures, labels


def makeOptions(replicas):
    """Under poprun, this process's share of the replicas; else all."""
    if popdist.isPopdistEnvSet():
        popdist.init()
        options = popdist.poptorch.Options()
    else:
        options = poptorch.Options().replicationFactor(replicas)
    return options.randomSeed(42).showCompilationProgressBar(False)


def ownShare(data, replicas):
    """The part of a batch that this process's replicas work on."""
    first, count = 0, replicas
    if popdist.isPopdistEnvSet():
        first = popdist.getReplicaIndexOffset()
        count = popdist.getNumLocalReplicas()
    begin = first * SAMPLES_PER_REPLICA
    return data[begin : begin + count * SAMPLES_PER_REPLICA]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicas", type=int, default=4, help="without poprun")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--save", help="file for the weights")
    arguments = parser.parse_args()

    options = makeOptions(arguments.replicas)
    isFirst = popdist.getInstanceIndex() == 0
    replicas = (
        popdist.getNumTotalReplicas()
        if popdist.isPopdistEnvSet()
        else arguments.replicas
    )
    torch.manual_seed(0)  # the same weights in all processes
    network = Network()
    trained = poptorch.trainingModel(
        network,
        options,
        poptorch.optim.SGD(
            network.parameters(), lr=0.05, momentum=0.9, use_combined_accum=True
        ),
    )
    for step in range(arguments.steps):
        _, loss = trained(*(ownShare(x, replicas) for x in batch(step, replicas)))
        if isFirst and step % 5 == 0:
            print(f"step {step:2}: loss {float(loss.mean()):.3f}", flush=True)
    trained.copyWeightsToHost()
    trained.destroy()

    tested = poptorch.inferenceModel(network.eval(), options)
    pictures, labels = batch(arguments.steps, replicas)
    scores = tested(ownShare(pictures, replicas))
    hits = scores.argmax(dim=1) == ownShare(labels, replicas)
    print(f"accuracy of instance {popdist.getInstanceIndex()}: "
          f"{float(hits.float().mean()):.2f}", flush=True)  # fmt: skip
    if isFirst and arguments.save:
        torch.save(network.state_dict(), arguments.save)


if __name__ == "__main__":
    main()
