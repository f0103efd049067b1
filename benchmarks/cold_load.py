"""What loading a pull request costs: requests, depth and bytes, against a GitHub that is 60 ms away.

    python benchmarks/cold_load.py [--latency MS] [--rounds N] [--pulls N]

The server runs in a process of its own and counts for itself. Printed for a pull request of ten commits with two
hundred check-runs each: requests, round trips deep and seconds of a cold load; the same of an unchanged one, with what
it takes from the budget; the same of the stage after it, which looks up what main published for the points that were
measured; and a review's reading from the cache as a whole process. With REVIEWER_TUI_CLONE naming a
clone of InferenceX, `--pulls` real pull requests are loaded from a server over that clone, and the size of the cache is
told.
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from reviewer_tui.model.errors import DataError  # noqa: E402
from reviewer_tui.model.pull_request import PullRequestRef  # noqa: E402
from reviewer_tui.sources.github.auth import Token  # noqa: E402
from reviewer_tui.sources.github.client import GitHubClient  # noqa: E402
from reviewer_tui.sources.github.hosts import parse_host  # noqa: E402
from reviewer_tui.sources.github.loader import GitHubSource  # noqa: E402
from reviewer_tui.store.cache import Cache  # noqa: E402
from tests.fake_github.merged import files, head_files, merge, reused  # noqa: E402
from tests.fake_github.plain import NUMBER, REPOSITORY, TOKEN, Plain, result_row  # noqa: E402
from tests.fake_github.server import FakeGitHub  # noqa: E402
from tests.fake_github.world import Pull, World  # noqa: E402

OFFLINE = """
import sys
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.sources.cached import CacheSource
from reviewer_tui.store.cache import Cache
path, host, repository, number = sys.argv[1:]
with Cache(path) as cache:
    loaded = CacheSource(cache, repository, host).load(PullRequestRef(repository, int(number), host))
    trees = loaded.trees
    for tree in (trees.policy, trees.base, trees.head):
        for path in ("configs/nvidia-master.yaml", "perf-changelog.yaml"):
            tree.read(path)
"""


def serve(world: World, latency: float, talk: Connection) -> None:
    """Serve until told to stop; answer `counts` with what was asked since the last time."""
    with FakeGitHub(world, latency=latency) as fake:
        talk.send(fake.host)
        fake.budget.remaining = 1_000_000
        budget = fake.budget.remaining
        while talk.recv() == "counts":
            statuses = [seen.status for seen in fake.requests()]
            talk.send((len(statuses), fake.depth(), set(statuses), budget - fake.budget.remaining))
            fake.forget()
            budget = fake.budget.remaining


class Served:
    """A server in a process of its own."""

    def __init__(self, world: World, latency: float) -> None:
        self._talk, other = multiprocessing.Pipe()
        self._process = multiprocessing.get_context("fork").Process(target=serve, args=(world, latency, other))
        self._process.start()
        self.host: str = self._talk.recv()

    def counts(self) -> tuple[int, int, set[int], int]:
        self._talk.send("counts")
        found: tuple[int, int, set[int], int] = self._talk.recv()
        return found

    def stop(self) -> None:
        self._talk.send("stop")
        self._process.join()


def cold_and_warm(folder: Path, latency: float, rounds: int) -> None:
    """The synthetic pull request, several times into empty caches."""
    plain = Plain(folder, commits=10, lanes=200, before=files(3, 5), adds=head_files(3, 5))
    merge(plain, 3, result_row(16))
    merge(plain, 5)
    reused(plain, 5, result_row(16))
    served = Served(plain.world, latency)
    ref = PullRequestRef(REPOSITORY, NUMBER, served.host)
    cold, warm, later, again = [], [], [], []
    for number in range(rounds):
        with Cache(folder / f"cache-{number}.sqlite") as cache, client(served.host, TOKEN, cache) as one:
            source = GitHubSource(one, cache, REPOSITORY)
            load = functools.partial(source.load, ref)
            cold.append(timed(load))
            cold_counts = served.counts()
            publish = functools.partial(source.with_published, source.load(ref))
            served.counts()
            later.append(timed(publish))
            later_counts = served.counts()
            warm.append(timed(load))
            warm_counts = served.counts()
            again.append(timed(publish))
            again_counts = served.counts()
            size = cache.size()
    print(f"10 commits x 200 check-runs, server {latency * 1000:.0f} ms away, best of {rounds}")
    tell("cold", cold_counts, cold)
    tell("unchanged", warm_counts, warm)
    print("  then what main published: one sweep of its own, one that reused its pull request's")
    tell("cold", later_counts, later)
    tell("unchanged", again_counts, again)
    print(f"  cache {size / 1000:.0f} kB")
    served.stop()
    arguments = [str(folder / "cache-0.sqlite"), served.host, REPOSITORY, str(NUMBER)]
    offline = [timed(lambda: python(OFFLINE, *arguments)) for _ in range(5)]
    bare = [timed(lambda: python("pass")) for _ in range(5)]
    print(f"  offline, whole process: {median_ms(offline)} ms (bare interpreter {median_ms(bare)} ms)")


def tell(name: str, counts: tuple[int, int, set[int], int], seconds: list[float]) -> None:
    requests, deep, statuses, used = counts
    took = f"{requests:3} requests, {deep} deep   {min(seconds):.2f} s"
    print(f"  {name:<10} {took}   statuses {sorted(statuses)}, budget used {used}")


def real_sizes(folder: Path, clone: Path, count: int) -> None:
    """Real pull requests over a clone: how long each takes, and how large the cache gets."""
    world = World()
    world.token(TOKEN, "reader")
    numbers = pull_requests(clone)[-count:]
    main = git(clone, "rev-parse", "HEAD")
    repository = world.repository("SemiAnalysisAI/InferenceX", clone, branches={"main": main})
    for number in numbers:
        head = git(clone, "rev-parse", f"refs/pull/{number}/head")
        repository.pulls[number] = Pull(number, f"Pull {number}", None, "main", main, f"b{number}", head)
    served = Served(world, 0.0)
    seconds, failed = [], 0
    with Cache(folder / "real.sqlite") as cache, client(served.host, TOKEN, cache) as one:
        source = GitHubSource(one, cache, repository.full_name)
        for number in numbers:
            began = time.perf_counter()
            try:
                source.load(PullRequestRef(repository.full_name, number, served.host))
            except DataError as fault:
                failed += 1
                if failed <= 5:
                    print(f"  #{number}: {fault}", file=sys.stderr)
            seconds.append(time.perf_counter() - began)
        size = cache.size()
    served.stop()
    print(f"{len(numbers)} real pull requests (files and commits only), {failed} failed")
    each = f"{statistics.median(seconds):.2f} s and {size / len(numbers) / 1e3:.0f} kB each"
    print(f"  {each}, cache {size / 1e6:.1f} MB")


def pull_requests(clone: Path) -> list[int]:
    names = git(clone, "for-each-ref", "--format=%(refname)", "refs/pull").split()
    return sorted(int(name.split("/")[2]) for name in names if name.endswith("/head"))


def git(clone: Path, *arguments: str) -> str:
    return subprocess.run(
        ("git", "-C", str(clone), *arguments), capture_output=True, check=True, text=True
    ).stdout.strip()


def client(host: str, token: str, cache: Cache) -> GitHubClient:
    return GitHubClient(parse_host(host), Token(token, "the benchmark"), answers=cache)


def python(code: str, *arguments: str) -> None:
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code, *arguments], check=True, env=environ)


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def median_ms(seconds: list[float]) -> str:
    return f"{statistics.median(seconds) * 1000:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--latency", type=float, default=60.0, metavar="MS")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pulls", type=int, default=40)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cold_and_warm(folder, options.latency / 1000, options.rounds)
        if clone := os.environ.get("REVIEWER_TUI_CLONE"):
            real_sizes(folder, Path(clone), options.pulls)


if __name__ == "__main__":
    main()
