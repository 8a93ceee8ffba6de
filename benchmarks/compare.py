"""One row: who is fastest, whether values agree, what memory it takes.

PyTorch is tried in every setting that might be its best. Then the best settings
and Aspen take turns, round by round, each with the machine to itself, after
both have made the same values from the same weights and batches.
"""

from pathlib import Path

import contenders as sides
import dense
import memory
from contenders import Contender, Row
from networks import INFERENCE_TARGET, NETWORKS

TOLERANCE = 1e-3  # relative, on losses and on the largest score


def select_peers(row: Row, core_type: str | None) -> list[Contender]:
    """PyTorch's fastest setting for each thread count, by a short trial."""
    tried = sides.pytorch(row, core_type)
    for contender in tried:
        contender.start()
        contender.warm_up()
        contender.time(0.15)
        contender.close()
    tried.sort(key=lambda c: c.median, reverse=True)
    # Later entries overwrite earlier ones, so that the fastest stay.
    peers = list({c.settings["torch_threads"]: c for c in tried}.values())
    for peer in peers:
        peer.figures.clear()
    return peers


def differences(values, expected) -> float:
    """The largest, as a share of the largest value; NaN if there is one."""
    worst = 0.0
    for ours, theirs in zip(values, expected, strict=True):
        size = max(abs(t) for t in theirs)
        for a, b in zip(ours, theirs, strict=True):
            difference = abs(a - b) / size
            worst = difference if not difference <= worst else worst
    return worst


def check_values(row: Row, peer: Contender, others: list[Contender]) -> float:
    """Largest relative difference of what is made; raises if too large.

    Random numbers differ between frameworks, so dropout is off.
    """
    changed = dict(dropout=False) if row.is_training else {}
    answers = []
    for contender in [peer, *others]:
        contender.start(**changed)
        values = contender.worker.ask(check=row.checked)
        answers.append(values)
        contender.close()
    worst = 0.0
    for contender, values in zip(others, answers[1:]):
        difference = differences(values, answers[0])
        if not difference <= TOLERANCE:
            raise RuntimeError(
                f"{row.title}: {contender.side}, {contender.name} made "
                f"{values}, PyTorch {answers[0]}: nothing to time before they "
                f"agree")
        worst = max(worst, difference)
    return worst


def check_bits(row: Row, ours: list[Contender]) -> bool:
    """Whether the number of threads leaves every bit as it is."""
    digests = {}
    for contender in ours:
        digest = contender.worker.ask(digest=row.checked)
        digests.setdefault(contender.settings["per_call"], set()).add(digest)
    return all(len(found) == 1 for found in digests.values())


def collect_facts(contender: Contender):
    contender.facts = contender.worker.ask(facts=True)
    if contender.side == "Aspen":
        log = Path(contender.environment["POPLAR_LOG_DEST"])
        contender.facts.update(memory.engine_bytes(log))
        log.unlink()


def compare(row: Row, core_type: str | None, peer_python: str | None,
            rounds: int, seconds: float) -> dict:
    peers = select_peers(row, core_type)
    if peer_python:
        others = sides.jax if row.is_training else sides.onnx_runtime
        peers += others(row, peer_python)
    ours = sides.aspen(row)
    difference = check_values(row, peers[0], peers[1:] + ours)
    for contender in peers + ours:
        contender.start()
    is_identical = check_bits(row, ours)
    for contender in peers + ours:
        contender.warm_up()
    for _ in range(rounds):
        for contender in peers + ours:
            contender.time(seconds)
    for contender in peers + ours:
        collect_facts(contender)
        contender.close()
    return dict(network=row.network, title=row.title,
                isTraining=row.is_training, batch=row.batch,
                target=(NETWORKS[row.network].target if row.is_training
                        else INFERENCE_TARGET),
                difference=difference, isIdentical=is_identical,
                denseMs=dense.limit_ms(row),
                contenders=[c.summary() for c in peers + ours])
