"""An encoder of BERT's shape in plain torch.nn."""

import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, hidden: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(hidden, hidden)
        self.key = nn.Linear(hidden, hidden)
        self.value = nn.Linear(hidden, hidden)
        self.output = nn.Linear(hidden, hidden)

    def split(self, x):
        batch, length, hidden = x.shape
        return x.reshape(batch, length, self.heads,
                         hidden // self.heads).permute(0, 2, 1, 3)

    def forward(self, x, mask):
        query, key, value = (self.split(layer(x)) for layer in
                             (self.query, self.key, self.value))
        scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
        found = (scores + mask).softmax(-1) @ value
        return self.output(found.permute(0, 2, 1, 3).reshape(x.shape))


class Layer(nn.Module):
    def __init__(self, hidden: int, heads: int):
        super().__init__()
        self.attention = Attention(hidden, heads)
        self.norm = nn.LayerNorm(hidden, eps=1e-12)
        self.wide = nn.Linear(hidden, 4 * hidden)
        self.narrow = nn.Linear(4 * hidden, hidden)
        self.last_norm = nn.LayerNorm(hidden, eps=1e-12)

    def forward(self, x, mask):
        x = self.norm(x + self.attention(x, mask))
        wide = nn.functional.gelu(self.wide(x))
        return self.last_norm(x + self.narrow(wide))


class Encoder(nn.Module):
    """Words, their segments and a mask of those that count; the scores are of
    `classes` for each sequence."""

    def __init__(self, layers: int, hidden: int, heads: int, words: int,
                 positions: int = 512, classes: int = 10):
        super().__init__()
        self.words = nn.Embedding(words, hidden)
        self.segments = nn.Embedding(2, hidden)
        self.positions = nn.Embedding(positions, hidden)
        self.norm = nn.LayerNorm(hidden, eps=1e-12)
        self.layers = nn.ModuleList(Layer(hidden, heads)
                                    for _ in range(layers))
        self.pool = nn.Linear(hidden, hidden)
        self.classify = nn.Linear(hidden, classes)

    def forward(self, words, segments, mask):
        places = torch.arange(words.shape[1])
        x = self.norm(self.words(words) + self.segments(segments) +
                      self.positions(places))
        added = (1.0 - mask[:, None, None, :]) * -10000.0
        for layer in self.layers:
            x = layer(x, added)
        return self.classify(torch.tanh(self.pool(x[:, 0])))
