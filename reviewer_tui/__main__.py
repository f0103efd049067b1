"""`python -m reviewer_tui` is the same program as `reviewer-tui`."""

from reviewer_tui.cli.main import run

if __name__ == "__main__":
    run()
