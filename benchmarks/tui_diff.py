"""How long the diff view takes to show files of growing length, and what a page down costs then.

    python benchmarks/tui_diff.py

For each number of rows: making the diff and the row model (in the program this happens in a thread), the first paint of
a host app with the view at 160x50, and a page down (median of 20; Pilot's own waiting, measured on an empty app, is
taken off). A file has 4 changed lines in 100 and is shown whole, so that every line is a row.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import time

os.environ.setdefault("TEXTUAL_ANIMATIONS", "none")

from textual.app import App, ComposeResult

from reviewer_tui.tui.diff.file_diff import file_diff
from reviewer_tui.tui.diff.rows import Rows
from reviewer_tui.tui.widgets.diff_view import DiffView

SIZES = (1_000, 25_000, 250_000)


class Host(App[None]):
    def compose(self) -> ComposeResult:
        yield DiffView("text")


def sides(rows: int) -> tuple[bytes, bytes]:
    choose = random.Random(rows)
    lines = rows * 100 // 104
    old = [f"  - {{ tp: {i % 8}, ep: {i % 4}, conc: {i}, spec-decoding: mtp }}" for i in range(lines)]
    new = [line.replace("mtp", "none") if choose.random() < 0.04 else line for line in old]
    return "\n".join(old).encode(), "\n".join(new).encode()


async def measure(rows: int) -> tuple[float, float, float, float]:
    old, new = sides(rows)
    started = time.perf_counter()
    diff = file_diff("configs/master.yaml", old, new)
    made = time.perf_counter()
    model = Rows(diff, whole=True)
    modelled = time.perf_counter()
    app = Host()
    async with app.run_test(size=(160, 50)) as pilot:
        await pilot.pause()
        view = app.query_one(DiffView)
        view.focus()
        painted = asyncio.Event()
        before = time.perf_counter()
        view.whole = True
        view.show(diff, model)
        view.call_after_refresh(painted.set)
        await painted.wait()
        first = time.perf_counter() - before
        pages = []
        for _ in range(20):
            done = asyncio.Event()
            before = time.perf_counter()
            view.action_page_down()
            view.call_after_refresh(done.set)
            await done.wait()
            pages.append(time.perf_counter() - before)
    return made - started, modelled - made, first, statistics.median(pages)


def main() -> None:
    print(f"{'rows':>8}  {'diff':>8}  {'row model':>9}  {'first paint':>11}  {'page down':>9}   (ms)")
    for rows in SIZES:
        shown = [f"{1000 * seconds:8.1f}" for seconds in asyncio.run(measure(rows))]
        print(f"{rows:>8}  {shown[0]}  {shown[1]:>9}  {shown[2]:>11}  {shown[3]:>9}")


if __name__ == "__main__":
    main()
