"""reviewer-tui: the workstation of InferenceX reviewers."""

__version__ = "0.1.0"
