"""torch's own database of operators and sample inputs, run through PopTorch."""
