"""What is wrong is found, and cut down to a program that shows it alone."""

import subprocess
import sys
from dataclasses import replace

import pytest

from .forms import FORMS
from .generate import generate
from .program import Kind, Leaf, Node, Program
from .run import check, failure
from .shrink import shrink


def with_wrong_reference(name: str, torch: str):
    """A program that has the form, with a reference that is wrong for it."""
    forms = [replace(form, torch=torch) if form.name == name else form
             for form in FORMS]
    for seed in range(100):
        program = generate(seed, forms)
        used = [program.values[i].form for i in program.nodes]
        if name in used and len(used) > 15 and failure(program):
            return program
    raise AssertionError(f"no program shows that {name} is wrong")


@pytest.mark.parametrize("name, torch", [
    ("tanh", "1.1 * torch.tanh({0})"),  # values
    ("sigmoid", "torch.sigmoid({0}) + {0}.detach() - {0}"),  # gradients
    ("transpose", "{0}.permute({order}).flip(0)"),
])
def test_wrong_operators_are_found_alone(name, torch):
    program = with_wrong_reference(name, torch)
    small = shrink(program, lambda candidate: bool(failure(candidate)))
    assert [small.values[i].form for i in small.nodes] == [name]
    assert len(small.values) == 2


def test_the_script_of_a_failure_runs_by_itself(tmp_path):
    program = with_wrong_reference("tanh", "1.1 * torch.tanh({0})")
    with pytest.raises(AssertionError) as caught:
        check(program, "wrong tanh")
    script = str(caught.value).split("-" * 72)[1]
    path = ":".join(sys.path)

    def run(text: str):
        file = tmp_path / "graph.py"
        file.write_text(text)
        return subprocess.run([sys.executable, file], capture_output=True,
                              text=True, env={"PYTHONPATH": path})

    wrong = run(script)
    assert wrong.returncode != 0
    assert "differs from PyTorch's by" in wrong.stderr
    right = run(script.replace("1.1 * torch.tanh", "torch.tanh"))
    assert right.returncode == 0, right.stderr


def test_shrinking_keeps_what_the_failure_needs():
    kind = Kind("float", (2,), 1.0)
    relu = Node("relu", "o.relu([{0}])", "torch.relu({0})", (0,), kind)
    values = [Leaf(kind, "variable", 0), relu]
    for i in range(1, 6):
        values.append(replace(relu, form="tanh" if i == 3 else "relu",
                              operands=(i,)))

    def fails(program: Program) -> bool:
        forms = [program.values[i].form for i in program.nodes]
        return "tanh" in forms and forms.count("relu") >= 2

    small = shrink(Program(tuple(values)), fails)
    assert sorted(small.values[i].form for i in small.nodes) == [
        "relu", "relu", "tanh"]
