"""Networks as PyTorch exports them, run and trained by PopART."""
