"""Networks of random pieces, trained in random ways.

A network (pieces.py, generate.py) is a list of pieces; a way (ways.py) puts them
into blocks, and those on IPUs. run.py trains or runs one in PyTorch, plainly in
PopTorch and in its way, by the value program and by the machine program.
"""
