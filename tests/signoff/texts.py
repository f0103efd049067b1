"""Sign-off texts for tests: a bundled template, ticked and filled in."""

from __future__ import annotations

from reviewer_tui.model.checklist import ChecklistTemplate
from reviewer_tui.policy.checklist import bundled_templates, parse_template

RUN = "https://github.com/SemiAnalysisAI/InferenceX/actions/runs/31628689774"
RECIPE = "https://github.com/sgl-project/sglang/pull/34357"
DETAIL = f"Recipe: {RECIPE}, merged on 08-11."


def newest() -> ChecklistTemplate:
    """The newest bundled template (21, 2026-08-14)."""
    return version(21)


def version(number: int) -> ChecklistTemplate:
    """A bundled template by its version number."""
    return bundled_templates()[number - 1]


def signed(template: ChecklistTemplate | None = None, detail: str = DETAIL, login: str = "octocat") -> str:
    """A template with all boxes ticked, run links behind validation and evals, a detail text and a signature."""
    template = template or newest()
    lines = []
    for line in template.text.split("\n"):
        ticked = line.replace("- [ ]", "- [x]")
        if "shows this" in line:
            ticked += f" [Link]({RUN})"
        lines.append(detail if line == template.placeholder else ticked)
    return "\n".join(lines).replace("FILL_IN_GITHUB_USERNAME", login)


def strange() -> ChecklistTemplate:
    """The template of autumn 2026 with one more item, which this program does not know."""
    new = "- [ ] Verified that the quantum flux capacitor was calibrated before benchmarking."
    text = version(22).text.replace("\n\n### Additional", f"\n{new}\n\n### Additional")
    template = parse_template(f"## Template\n```\n{text}\n```\n", "docs/PR_REVIEW_CHECKLIST.md")
    assert isinstance(template, ChecklistTemplate)
    return template
