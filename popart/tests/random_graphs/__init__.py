"""Random graphs: made from a seed, run by PopART and by PyTorch, and cut down
to a small program where the two disagree."""
