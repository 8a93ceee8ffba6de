"""Graphs from seeds have PyTorch's values and gradients."""

import os

import pytest

from .forms import FORMS
from .generate import generate
from .run import check

GRAPHS = int(os.environ.get("RANDOM_GRAPHS", "100"))
CHUNK = 20  # graphs of one test


@pytest.mark.parametrize("first", range(0, GRAPHS, CHUNK))
def test_graphs_from_seeds(first):
    for seed in range(first, min(first + CHUNK, GRAPHS)):
        check(generate(seed, FORMS), f"seed {seed}")


def test_a_seed_gives_one_program():
    assert generate(3, FORMS).script() == generate(3, FORMS).script()


def test_programs_have_all_that_they_should():
    programs = [generate(seed, FORMS) for seed in range(100)]
    sizes = [len(program.nodes) for program in programs]
    assert 5 <= min(sizes) and max(sizes) <= 40
    used = {program.values[i].form for program in programs
            for i in program.nodes}
    assert used == {form.name for form in FORMS}
    types = [{value.kind.type for value in program.values}
             for program in programs]
    assert sum(len(found) >= 3 for found in types) > 50
