"""Everything the InferenceX repository demands at one revision."""

from __future__ import annotations

import msgspec

from reviewer_tui.model.checklist import ChecklistTemplate
from reviewer_tui.model.finding import Problem
from reviewer_tui.model.part import Part
from reviewer_tui.model.tree import Tree
from reviewer_tui.policy.checklist import read_template, read_translation
from reviewer_tui.policy.deprecations import Deprecations
from reviewer_tui.policy.eval_bars import EvalBars, read_eval_bars
from reviewer_tui.policy.golden import GoldenCurves, read_golden
from reviewer_tui.policy.layout import Layout, discover_layout, layout_problems
from reviewer_tui.policy.models_file import read_deprecations
from reviewer_tui.policy.owners import Owners, read_owners
from reviewer_tui.policy.verifier import PolicyCheck, read_checks

__all__ = ["Policy", "PolicyCheck", "load_policy"]


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

    @property
    def plain_problems(self) -> tuple[Problem, ...]:
        """The problems of all files but the Chinese checklist, which matters only where its text is shown; what it
        lacks is said there."""
        return tuple(problem for problem in self.problems if problem.path != self.layout.checklist_zh)

    def check(self, name: str) -> PolicyCheck | None:
        """The check with this name."""
        return next((check for check in self.checks if check.name == name), None)


def load_policy(tree: Tree) -> Policy:
    """The policy of a revision. Never fails: what cannot be read is an unavailable part and a problem."""
    layout = discover_layout(tree)
    template, template_problems = read_template(tree, layout)
    translation, translation_problems = read_translation(tree, layout, template.value)
    checks, check_problems = read_checks(tree, layout)
    owners, owner_problems = read_owners(tree, layout)
    deprecations, deprecation_problems = read_deprecations(tree, layout)
    eval_bars, bar_problems = read_eval_bars(tree, layout)
    golden, golden_problems = read_golden(tree, layout)
    return Policy(
        revision=tree.revision,
        layout=layout,
        template=template,
        translation=translation,
        checks=checks,
        owners=owners,
        deprecations=deprecations,
        eval_bars=eval_bars,
        golden=golden,
        problems=(
            *layout_problems(layout),
            *template_problems,
            *translation_problems,
            *check_problems,
            *owner_problems,
            *deprecation_problems,
            *bar_problems,
            *golden_problems,
        ),
    )
