"""What a launcher (`runners/launch_<machine>.sh`) does to a row's launch: followed down to the server of a node, or
asked what it changes in the recipe before it is started."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from reviewer_tui.launch.arguments import Value
from reviewer_tui.launch.environment import environment_of
from reviewer_tui.launch.serve_command import ScriptCommands, ServeCommand, script_commands
from reviewer_tui.launch.shell import evaluate
from reviewer_tui.launch.text import Text
from reviewer_tui.model.finding import Problem
from reviewer_tui.model.tree import Tree
from reviewer_tui.sweeps.rows import Row

_INJECTOR = "inject_synthetic_acceptance.py"
_DELETED_LINES = re.compile(r"/([\w.-]+)/d")


class LauncherEffects(msgspec.Struct, frozen=True, kw_only=True):
    """What a launcher changes in a recipe: the mean acceptance length it writes in, and the names (of variables or
    settings) whose lines it deletes."""

    acceptance_length: float | None = None
    deleted: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    def applied(self, server: ServeCommand) -> ServeCommand:
        """A server of the recipe as it runs."""
        env = {
            name: value for name, value in server.env.items() if not any(name in d or d in name for d in self.deleted)
        }
        if len(env) != len(server.env):
            server = msgspec.structs.replace(server, env=env)
        if self.acceptance_length is None:
            return server
        return _injected(server, self.acceptance_length)


def _injected(server: ServeCommand, length: float) -> ServeCommand:
    """Synthetic acceptance as `runners/synthetic_injectors` write it: into vLLM's speculative configuration, and into
    the environment of SGLang's workers."""
    if server.engine == "vllm":
        config: Value = server.args.get("--speculative-config")
        if not isinstance(config, dict):
            return server
        changed: dict[str, Any] = {
            **config,
            "rejection_sample_method": "synthetic",
            "synthetic_acceptance_length": length,
        }
        values = {**server.args, "--speculative-config": changed}
        return msgspec.structs.replace(server, arguments=msgspec.structs.replace(server.arguments, values=values))
    if server.engine == "sglang":
        added: dict[str, Text] = {
            "SGLANG_SIMULATE_ACC_LEN": f"{length:g}",
            "SGLANG_SIMULATE_ACC_METHOD": "match-expected",
            "SGLANG_SIMULATE_ACC_TOKEN_MODE": "real-draft-token",
        }
        return msgspec.structs.replace(server, env={**server.env, **added})
    return server


class Launcher:
    """One launcher at one revision. `aliases` map folders of containers to folders of the repository."""

    def __init__(self, tree: Tree, path: str, aliases: Mapping[str, str]) -> None:
        self.tree, self.path, self.aliases = tree, path, aliases

    def may_inject(self, row: Row) -> bool:
        """Whether the row asks for an acceptance length to be written into its recipe."""
        wanted = environment_of(row).get("SYNTHETIC_ACCEPTANCE", "false")
        return isinstance(wanted, str) and wanted.strip().lower() == "true"

    def effects(self, row: Row, eval_only: bool) -> LauncherEffects:
        """What the launcher does to the recipe of a row before it starts it."""
        environment = self._environment(row, eval_only, None)
        evaluation = evaluate(self.tree, self.path, environment, aliases=self.aliases)
        if not self.path.endswith(".sh"):
            message = "What this launcher changes in a recipe is not read."
            return LauncherEffects(problems=(Problem(path=self.path, message=message, rule="launcher"),))
        deleted: dict[str, None] = {}
        length: float | None = None
        problems: list[Problem] = []
        for command in evaluation.commands:
            words = [argument.text for argument in command.argv]
            if any(isinstance(word, str) and posixpath.basename(word) == _INJECTOR for word in words):
                if not eval_only and self.may_inject(row):
                    length = _length(command.environment)
            elif any(word == "sed" for word in words):
                found = (m for word in words if isinstance(word, str) for m in _DELETED_LINES.findall(word))
                deleted.update(dict.fromkeys(found))
        if not evaluation.complete or evaluation.ended is not None:
            message = f"The launcher was not followed to its end, so it may change the recipe further ({self.path})."
            problems.append(Problem(path=self.path, message=message, rule="launcher"))
        return LauncherEffects(acceptance_length=length, deleted=tuple(deleted), problems=tuple(problems))

    def node(self, row: Row, eval_only: bool, rank: int, extra: Mapping[str, Text]) -> ScriptCommands:
        """What runs on one node of the job that the launcher submits for a row. `extra` variables win over its own."""
        given = {**self._environment(row, eval_only, rank), **extra}
        return script_commands(self.tree, self.path, row, eval_only=eval_only, aliases=self.aliases, extra=given)

    def _environment(self, row: Row, eval_only: bool, rank: int | None) -> dict[str, Text]:
        machine = posixpath.basename(self.path).removeprefix("launch_").removesuffix(".sh")
        environment = environment_of(row, eval_only=eval_only)
        environment |= {"RUNNER_NAME": f"{machine}_0", "GITHUB_ACTIONS": "true"}
        if rank is not None:
            # Names of the batch system; the number of the job stands in paths only.
            environment |= {"SLURM_PROCID": str(rank), "SLURM_JOB_ID": "1"}
        return environment


def _length(environment: Mapping[str, Text]) -> float | None:
    text = environment.get("SYNTHETIC_ACCEPTANCE_LENGTH")
    try:
        return float(text) if isinstance(text, str) and text.strip() else None
    except ValueError:
        return None
