"""Everything the InferenceX repository demands at one revision."""

from __future__ import annotations

import msgspec

from reviewer_tui.model.checklist import ChecklistTemplate
from reviewer_tui.model.finding import Problem
from reviewer_tui.model.part import Part, unavailable
from reviewer_tui.model.tree import Tree
from reviewer_tui.policy.deprecations import Deprecations
from reviewer_tui.policy.eval_bars import EvalBars
from reviewer_tui.policy.golden import GoldenCurves
from reviewer_tui.policy.layout import Layout, discover_layout
from reviewer_tui.policy.owners import Owners


class PolicyCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One check of the verifier: its fixed name, the number at this revision (None where no verifier was read), its
    title and its text as the verifier words them, and the heading's line in the verifier's file."""

    name: str
    number: int | None
    title: str
    text: str = ""
    line: int | None = None


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """The policy of one revision. A file that is missing or malformed is an unavailable part and a named problem.

    `translation` holds the template's items with their Chinese explanations as texts, same labels and names.
    """

    revision: str
    layout: Layout
    template: Part[ChecklistTemplate]
    translation: Part[ChecklistTemplate]
    checks: tuple[PolicyCheck, ...]
    owners: Part[Owners]
    deprecations: Part[Deprecations]
    eval_bars: Part[EvalBars]
    golden: Part[GoldenCurves]
    problems: tuple[Problem, ...] = ()

    def check(self, name: str) -> PolicyCheck | None:
        """The check with this name."""
        return next((check for check in self.checks if check.name == name), None)


def load_policy(tree: Tree) -> Policy:
    """The policy of a revision. Never fails: what cannot be read is an unavailable part and a problem."""
    layout = discover_layout(tree)
    return Policy(
        revision=tree.revision,
        layout=layout,
        template=unavailable("The checklist was not read."),
        translation=unavailable("The Chinese checklist was not read."),
        checks=(),
        owners=unavailable("CODEOWNERS was not read."),
        deprecations=unavailable("The models file was not read."),
        eval_bars=unavailable("The eval bars were not read."),
        golden=unavailable("The golden curves were not read."),
    )
