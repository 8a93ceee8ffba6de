"""What the comparison of networks found, as lines of tables and as a chart."""

from chart import chart

HEAD = ["network, batch", "side", "setting", "median ms", "spread ms", "ratio"]
FACTS_HEAD = ["network, batch", "setting", "ratio", "target", "verdict",
              "of dense limit", "1 to all threads", "same bits", "compile s",
              "engine MB", "PyTorch MB", "workspaces MB", "resident MB",
              "PyTorch resident MB"]


def fastest(result: dict, side: str) -> dict | None:
    own = [c for c in result["contenders"] if c["side"] == side]
    return min(own, key=lambda c: c["medianMs"], default=None)


def ratio(result: dict, side: str = "PyTorch") -> float:
    """How many times faster than the best setting of `side`."""
    return (fastest(result, side)["medianMs"]
            / fastest(result, "Aspen")["medianMs"])


def rows(result: dict) -> list[list[str]]:
    """A line for each contender, ours with the ratio to PyTorch's best."""
    peer = fastest(result, "PyTorch")["medianMs"]
    return [[result["title"], c["side"], c["setting"], f"{c['medianMs']:.3f}",
             f"{c['lowMs']:.3f} - {c['highMs']:.3f}",
             f"{peer / c['medianMs']:.2f}"] for c in result["contenders"]]


def scaling(result: dict) -> float:
    """One thread's time to that of all, in the fastest way to call."""
    best = fastest(result, "Aspen")
    way = best["setting"].split(", ")[1]
    alone = next(c for c in result["contenders"]
                 if c["side"] == "Aspen" and c["setting"] == f"1 thread, {way}")
    return alone["medianMs"] / best["medianMs"]


def megabytes(count: float) -> str:
    return f"{count / 1e6:.1f}"


def facts(result: dict) -> list[str]:
    """The line that says what was reached."""
    best, peer = fastest(result, "Aspen"), fastest(result, "PyTorch")
    reached = ratio(result)
    return [result["title"], best["setting"], f"{reached:.2f}",
            f"{result['target']:g}",
            "ok" if reached >= result["target"] else "MISSED",
            f"{result['denseMs'] / best['medianMs']:.2f}",
            f"{scaling(result):.2f}", "yes" if result["isIdentical"] else "NO",
            f"{best['compileSeconds']:.2f}",
            megabytes(best["arena"] + best["persistent"]),
            megabytes(peer["tensors"]), megabytes(best["workspaces"]),
            megabytes(best["resident"]), megabytes(peer["resident"])]


def peers(result: dict) -> str:
    """The other peers' part in it."""
    return "".join(
        f"\n{result['title']}: {ratio(result, side):.2f} times {side}"
        for side in ("ONNX Runtime", "JAX") if fastest(result, side))


def svg(results: list[dict], about: str) -> str:
    return chart(f"Times faster than PyTorch at its best ({about})",
                 [(r["title"], ratio(r), r["target"]) for r in results])
