"""Measured throughput and interactivity, beside what is published for the same points: as a table and as a plot."""

from __future__ import annotations

from reviewer_tui.model.result import BenchmarkResult
from reviewer_tui.review.session import Review
from reviewer_tui.tui.texts.evidence import part_lines
from reviewer_tui.tui.texts.page import BLANK, Line, Piece, line, table

# The plot's own size in cells, without its axes.
_WIDTH, _HEIGHT = 40, 9


def result_lines(review: Review) -> list[Line]:
    """Measured throughput and interactivity beside the published values of the same point."""
    part = review.snapshot.results
    results = part.value or ()
    lines = [line(Piece("Results, against the newest published value of the same point", "strong"))] if results else []
    lines += part_lines(part, "Results")
    return [*lines, *table([_result_row(result) for result in results]), *plot_lines(results)]


def _result_row(result: BenchmarkResult) -> list[Piece | str]:
    return [
        f"{result.parallelism} c{result.conc}",
        f"{result.throughput_per_gpu:.1f} tok/s/GPU",
        _delta(result.throughput_per_gpu, result.published_throughput_per_gpu),
        "" if result.interactivity is None else f"{result.interactivity:.2f} tok/s/user",
        _delta(result.interactivity, result.published_interactivity),
        "" if result.end_to_end_latency is None else f"{result.end_to_end_latency:.2f} s",
        Piece(f"run {result.run_id}", "dim"),
    ]


def _delta(measured: float | None, published: float | None) -> Piece:
    if measured is None or not published:
        return Piece("")
    change = (measured / published - 1) * 100
    return Piece(f"{change:+.2f} %", "added" if change >= 0 else "removed")


def plot_lines(results: tuple[BenchmarkResult, ...]) -> list[Line]:
    """Throughput over interactivity, measured (`*`) and published (`o`), where there are at least two points."""
    measured = [(r.interactivity, r.throughput_per_gpu) for r in results if r.interactivity is not None]
    published = [
        (r.published_interactivity, r.published_throughput_per_gpu)
        for r in results
        if r.published_interactivity is not None and r.published_throughput_per_gpu is not None
    ]
    points = measured + published
    if len(points) < 2 or len({x for x, _ in points}) < 2 or len({y for _, y in points}) < 2:
        return []
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    low, high = min(y for _, y in points), max(y for _, y in points)
    grid = [[" "] * (_WIDTH + 1) for _ in range(_HEIGHT)]
    for sign, some in (("o", published), ("*", measured)):
        for x, y in some:
            column = round((x - left) / (right - left) * _WIDTH)
            row = _HEIGHT - 1 - round((y - low) / (high - low) * (_HEIGHT - 1))
            grid[row][column] = "X" if grid[row][column] not in (" ", sign) else sign
    labels = [f"{high:.0f}", *[""] * (_HEIGHT - 2), f"{low:.0f}"]
    margin = max(map(len, labels))
    rows = [
        line(Piece(f"{label:>{margin}} |", "dim"), "".join(cells)) for label, cells in zip(labels, grid, strict=True)
    ]
    scale = f"{left:.0f}".ljust(_WIDTH - len(f"{right:.0f}") + 1) + f"{right:.0f}"
    return [
        BLANK,
        line(Piece("tok/s/GPU over tok/s/user   * measured   o published   X both", "dim")),
        *[row._replace(row=True) for row in rows],
        line(Piece(f"{' ' * margin} +{'-' * (_WIDTH + 1)}", "dim"))._replace(row=True),
        line(Piece(f"{' ' * margin}  {scale}", "dim"))._replace(row=True),
    ]
