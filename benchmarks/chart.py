"""The ratios as bars, written as SVG."""

from html import escape

WIDTH, LABEL, BAR, GAP = 900, 260, 18, 10
REACHED, MISSED, LINE = "#2e7d5b", "#b4532a", "#222222"


def bar(y: int, label: str, ratio: float, target: float, scale: float) -> str:
    colour = REACHED if ratio >= target else MISSED
    end = LABEL + ratio * scale
    goal = LABEL + target * scale
    return (
        f'<text x="{LABEL - 8}" y="{y + 13}" text-anchor="end">'
        f'{escape(label)}</text>'
        f'<rect x="{LABEL}" y="{y}" width="{ratio * scale:.1f}" '
        f'height="{BAR}" fill="{colour}"/>'
        f'<line x1="{goal:.1f}" x2="{goal:.1f}" y1="{y - 3}" '
        f'y2="{y + BAR + 3}" stroke="{LINE}" stroke-width="2"/>'
        f'<text x="{max(end, goal) + 6:.1f}" y="{y + 13}">{ratio:.2f}x</text>')


def chart(title: str, bars: list[tuple[str, float, float]]) -> str:
    """Of (label, ratio, target); a stroke marks each target."""
    largest = max([1.0] + [max(ratio, target) for _, ratio, target in bars])
    scale = (WIDTH - LABEL - 70) / largest
    height = 50 + len(bars) * (BAR + GAP)
    body = [bar(40 + i * (BAR + GAP), *entry, scale)
            for i, entry in enumerate(bars)]
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
        f'height="{height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="8" y="22" font-size="15">{escape(title)}</text>',
        *body, "</svg>", ""])
