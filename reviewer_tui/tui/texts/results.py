"""Measured throughput and interactivity, beside what is published for the same points: as a table and as a plot."""

from __future__ import annotations

from collections.abc import Sequence

from reviewer_tui.checks.published import Beside, CurveBeside, curves_beside, percent, summary_of
from reviewer_tui.model.result import Published
from reviewer_tui.review.session import Review
from reviewer_tui.tui.texts.evidence import part_lines
from reviewer_tui.tui.texts.page import BLANK, Line, Piece, Target, line, table

# The plot's own size in cells, without its axes.
_WIDTH, _HEIGHT = 40, 9


def result_lines(review: Review) -> list[Line]:
    """Measured throughput and interactivity beside the published values of the same point, curve by curve."""
    part, published = review.snapshot.results, review.snapshot.published
    results = part.value or ()
    lines = [line(Piece("Results, beside the newest published values of the same points", "strong"))] if results else []
    lines += part_lines(part, "Results")
    if results and (published.value is None or not published.complete):
        lines += part_lines(published, "Published results")
    for curve in curves_beside(results, published.value or Published()):
        lines += _curve_lines(curve, review.review_date, looked_up=published.value is not None)
    return lines


def _curve_lines(curve: CurveBeside, today: str, *, looked_up: bool) -> list[Line]:
    """A curve: what it is and how it stands, its points, and its plot."""
    url = next((run.url for run in curve.origins if run.url), "")
    told = f"  {summary_of(curve, today)}." if looked_up else ""
    by = f"  by run {curve.run_id}" if curve.run_id else ""
    head = line(Piece(f"{curve.curve}{by}", "title"), told, indent=2, target=Target(url=url) if url else None)
    return [head, *table([_point_row(point, looked_up) for point in curve.points]), *plot_lines(curve.points)]


def _point_row(point: Beside, looked_up: bool) -> list[Piece | str]:
    result = point.measured
    return [
        f"  {result.parallelism} c{result.conc}",
        f"{result.throughput_per_gpu:.1f} tok/s/GPU",
        _gain(point.throughput),
        "" if result.interactivity is None else f"{result.interactivity:.2f} tok/s/user",
        _gain(point.interactivity),
        "" if result.end_to_end_latency is None else f"{result.end_to_end_latency:.2f} s",
        Piece(point.why if looked_up else "", "dim"),
    ]


def _gain(gain: float | None) -> Piece:
    return Piece("") if gain is None else Piece(percent(gain), "added" if gain >= 0 else "removed")


def plot_lines(points: Sequence[Beside]) -> list[Line]:
    """Throughput over interactivity, measured (`*`) and published (`o`), where there are at least two points."""
    rows = [point.measured for point in points]
    rows_before = [point.published for point in points if point.published is not None]
    measured, published = (
        [(row.interactivity, row.throughput_per_gpu) for row in some if row.interactivity is not None]
        for some in (rows, rows_before)
    )
    both = measured + published
    if len(both) < 2 or len({x for x, _ in both}) < 2 or len({y for _, y in both}) < 2:
        return []
    left, right = min(x for x, _ in both), max(x for x, _ in both)
    low, high = min(y for _, y in both), max(y for _, y in both)
    grid = [[" "] * (_WIDTH + 1) for _ in range(_HEIGHT)]
    for sign, some in (("o", published), ("*", measured)):
        for x, y in some:
            column = round((x - left) / (right - left) * _WIDTH)
            row = _HEIGHT - 1 - round((y - low) / (high - low) * (_HEIGHT - 1))
            grid[row][column] = "X" if grid[row][column] not in (" ", sign) else sign
    labels = [f"{high:.0f}", *[""] * (_HEIGHT - 2), f"{low:.0f}"]
    margin = max(map(len, labels))
    lines = [
        line(Piece(f"{label:>{margin}} |", "dim"), "".join(cells)) for label, cells in zip(labels, grid, strict=True)
    ]
    scale = f"{left:.0f}".ljust(_WIDTH - len(f"{right:.0f}") + 1) + f"{right:.0f}"
    return [
        BLANK,
        line(Piece("tok/s/GPU over tok/s/user   * measured   o published   X both", "dim")),
        *[row._replace(row=True) for row in lines],
        line(Piece(f"{' ' * margin} +{'-' * (_WIDTH + 1)}", "dim"))._replace(row=True),
        line(Piece(f"{' ' * margin}  {scale}", "dim"))._replace(row=True),
    ]
