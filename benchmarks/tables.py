"""Results as text."""


def table(head: list[str], lines: list[list[str]]) -> str:
    """The first two columns to the left, figures to the right."""
    widths = [max(len(l[i]) for l in [head, *lines]) for i in range(len(head))]
    out = []
    for line in [head, ["-" * w for w in widths], *lines]:
        cells = [cell.ljust(w) if i < 2 else cell.rjust(w)
                 for i, (cell, w) in enumerate(zip(line, widths))]
        out.append("| " + " | ".join(cells) + " |")
    return "\n".join(out)
