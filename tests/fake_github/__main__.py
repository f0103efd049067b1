"""Serve the story of #2550 for trying the program by hand.

    python -m tests.fake_github [--moment first|second] [--latency MS]

Prints how to call the program against it, and serves until it is interrupted. A line on standard input goes on to the
second moment.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.fake_github.server import FakeGitHub
from tests.fake_github.story_2550 import NUMBER, TOKEN, Story


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve the story of #2550.")
    parser.add_argument("--moment", choices=("first", "second"), default="first")
    parser.add_argument("--latency", type=float, default=0.0, metavar="MS")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        story = Story(Path(folder))
        if options.moment == "second":
            story.go_on()
        with FakeGitHub(story.world, latency=options.latency / 1000) as fake:
            print(f"GH_ENTERPRISE_TOKEN={TOKEN} reviewer-tui fetch {NUMBER} --host {fake.host}", flush=True)
            told = options.moment == "second"
            try:
                while sys.stdin.readline():
                    if not told:
                        story.go_on()
                        told = True
                        print("second moment", flush=True)
            except KeyboardInterrupt:
                pass


if __name__ == "__main__":
    main()
