"""Evaluates a bash script in part: which commands it would run for one row of a sweep, with which words.

Nothing is executed. A script is walked with the row's environment; what depends on the machine (a file, the output of
a program) is unknown, says so with its line, and a branch that hangs on it is walked both ways: afterwards a variable
is known where both ways agree. Steps, text and nesting are bounded, so that no script can stall a review.

Variables that neither the row nor the script sets are taken as unset and listed as assumptions, apart from those named
as `external`, which the surroundings (a launcher) set to something unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from reviewer_tui.launch import small_python, tools
from reviewer_tui.launch.command_line import Command, program_name, without_prefixes
from reviewer_tui.launch.containers import Inside, container_environment, inside
from reviewer_tui.launch.shell_builtins import Builtins
from reviewer_tui.launch.shell_parser import DECLARATIONS, parse
from reviewer_tui.launch.shell_state import (
    BREAK,
    CONTINUE,
    EXIT,
    ON,
    RETURN,
    Files,
    Frame,
    Loop,
    State,
    Value,
    distinct,
    joined,
)
from reviewer_tui.launch.shell_words import HOLE, Argument, Assumption, LimitReached, all_known, argument_of
from reviewer_tui.launch.shell_world import ROOT
from reviewer_tui.launch.syntax import (
    AndOr,
    Assignment,
    Background,
    Block,
    Case,
    Compute,
    Condition,
    CountedFor,
    For,
    Function,
    Group,
    If,
    Literal,
    Parameter,
    Pipeline,
    Simple,
    Statement,
    Unreadable,
    While,
    Word,
)
from reviewer_tui.launch.text import Mixed, Text, Unknown, concat, show, unknown, unknowns
from reviewer_tui.model.finding import Problem
from reviewer_tui.model.tree import Tree

_MAX_STEPS = 30_000
_MAX_DEPTH = 56
_MAX_TURNS = 2_000
_MAX_COMMANDS = 5_000


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """What a script would do. `complete` is False where a part of it was not evaluated at all (a limit, text that is
    no bash): then nothing may be concluded from a command's absence. `ended` names the line where the script certainly
    stops with a failure."""

    commands: tuple[Command, ...]
    problems: tuple[Problem, ...]
    assumptions: tuple[Assumption, ...]
    sources: tuple[str, ...]
    environment: Mapping[str, Text]
    complete: bool
    ended: Problem | None = None


def evaluate(
    tree: Tree,
    path: str,
    environment: Mapping[str, Text],
    *,
    arguments: Sequence[Text] = (),
    external: Iterable[str] = (),
    aliases: Mapping[str, str] | None = None,
    cwd: str = ROOT,
) -> Evaluation:
    """Evaluates the script at `path` of the tree. `environment` holds the exported variables it starts with.

    `aliases` map folders of a container or cluster (`/repo/benchmarks`) to folders of the tree.
    """
    return _Interpreter(tree, environment, frozenset(external), aliases or {}, cwd).whole(path, tuple(arguments))


class _Interpreter(Builtins):
    def __init__(
        self,
        tree: Tree,
        environment: Mapping[str, Text],
        external: frozenset[str],
        aliases: Mapping[str, str],
        cwd: str,
    ) -> None:
        super().__init__(tree, environment, external, aliases, cwd)
        self.steps = self.depth = self.background = self.substitutions = self.tested = 0
        self._statements: dict[type, Callable[..., int]] = {
            Simple: self._simple,
            Pipeline: self._pipeline,
            AndOr: self._and_or,
            Background: self._background,
            Group: self._group,
            If: self._if,
            Case: self._case,
            For: self._for,
            CountedFor: self._counted_for,
            While: self._while,
            Function: self._function,
            Compute: self._compute,
            Condition: self._condition,
            Unreadable: self._unreadable,
        }
        self._builtins = {**self.builtins(), ".": self._source, "source": self._source, "eval": self._eval}

    # -- the whole ------------------------------------------------------------------------------------------------

    def whole(self, path: str, arguments: tuple[Text, ...]) -> Evaluation:
        self.state.arguments = arguments
        block = self.script(path)
        if block is None:
            self.problem("missing", f"The script {path} is not in the repository at this revision.", 0, path)
            self.complete = False
        else:
            self.path, self.script_name, self.sources = path, f"{ROOT}/{path}", [f"{ROOT}/{path}"]
            try:
                self._block(block)
            except LimitReached as limit:
                self._limit(limit)
        return Evaluation(
            commands=tuple(self.commands),
            problems=tuple(self.problems.values()),
            assumptions=tuple(self.assumptions.values()),
            sources=tuple(self.read_paths),
            environment=self.state.exported,
            complete=self.complete,
            ended=self.ended,
        )

    def _limit(self, limit: LimitReached) -> None:
        self.complete = False
        message = f"line {limit.line}: evaluation stops, because {limit.message}."
        self.problem("limit", message, limit.line)

    def _tick(self, line: int) -> None:
        self.steps += 1
        if self.steps > _MAX_STEPS:
            raise LimitReached(f"more than {_MAX_STEPS:,} commands would run", line)

    def _block(self, block: Block) -> int:
        for statement in block.statements:
            flow = self._run(statement)
            if flow:
                return flow
        return ON

    def _run(self, statement: Statement) -> int:
        self.steps += 1
        if self.steps > _MAX_STEPS:
            raise LimitReached(f"more than {_MAX_STEPS:,} commands would run", statement.line)
        flow = self._statements[type(statement)](statement)
        if flow == ON and self.state.failing and self.state.status is False and not self.tested and _may_end(statement):
            return self.leave(statement.line)
        return flow

    def _test(self, run: Callable[[], int]) -> int:
        """Runs something whose failure is asked for, and so ends nothing."""
        self.tested += 1
        flow = run()
        self.tested -= 1
        return flow

    def _deeper(self, line: int) -> None:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise LimitReached(f"commands are nested more than {_MAX_DEPTH} deep", line)

    def _unreadable(self, statement: Unreadable) -> int:
        self.complete = False
        message = f"line {statement.line}: the script cannot be read from here on: {statement.message}."
        self.problem("unreadable", message, statement.line)
        return EXIT

    # -- branches -------------------------------------------------------------------------------------------------

    def _fork(self, branches: Sequence[Callable[[], int]], line: int) -> int:
        """Walks every branch from the present state, of which only one is real; then what they agree on holds."""
        start = self.state
        self.conditions.append(line)
        ends: list[tuple[State, int]] = []
        for branch in branches:
            self.state = start.copy()
            flow = branch()
            ends.append((self.state, flow))
        self.conditions.pop()
        flow = min(end for _, end in ends)
        for state, end in ends:
            if end != flow:
                self._pend(state, end, line)
        self.state = joined((state for state, end in ends if end == flow), line, self.path)
        return flow

    def _pend(self, state: State, flow: int, line: int) -> None:
        """Keeps a state in which a loop, a function or a process may have been left at a line."""
        frame = self.frames[-1]
        if flow == EXIT:
            process = next((frame for frame in reversed(self.frames) if frame.contained), None)
            if process is not None:
                process.exited.append(state)
        elif flow == RETURN:
            frame.returned.append(state)
            frame.lines.append(line)
        elif frame.loops:
            loop = frame.loops[-1]
            loop.lines.append(line)
            (loop.broken if flow == BREAK else loop.continued).append(state)

    def _if(self, statement: If) -> int:
        self._deeper(statement.line)
        redirected = self.redirected(statement.redirects, lambda: self._branches(statement, 0))
        self.depth -= 1
        return redirected

    def _branches(self, statement: If, number: int) -> int:
        branches = statement.branches
        while number < len(branches):
            condition, body = branches[number]
            flow = self._test(lambda condition=condition: self._block(condition))  # type: ignore[misc]
            if flow:
                return flow
            status = self.state.status
            if status:
                return self._block(body)
            number += 1
            if status is None:
                return self._either_branch(statement, number)
        if statement.otherwise is not None:
            return self._block(statement.otherwise)
        self.state.status = True
        return ON

    def _either_branch(self, statement: If, following: int) -> int:
        """The branch whose condition could not be decided, or the ones that follow it."""
        condition, body = statement.branches[following - 1]
        line = condition.statements[0].line if condition.statements else statement.line
        self._deeper(line)
        flow = self._fork([lambda: self._block(body), lambda: self._branches(statement, following)], line)
        self.depth -= 1
        return flow

    def _and_or(self, statement: AndOr) -> int:
        flow = self._test(lambda: self._run(statement.first))
        return flow or self._chain(statement, 0)

    def _chain(self, statement: AndOr, number: int) -> int:
        """The rest of `a && b || c` after what has run of it."""
        while number < len(statement.rest):
            operator, following = statement.rest[number]
            status = self.state.status
            if status is None:
                return self._either_status(statement, number)
            number += 1
            if status is not (operator == "&&"):
                continue
            last = number == len(statement.rest)
            flow = self._run(following) if last else self._test(lambda run=following: self._run(run))  # type: ignore[misc]
            if flow:
                return flow
        return ON

    def _either_status(self, statement: AndOr, number: int) -> int:
        """The rest of a list whose present status is unknown: once after a success, once after a failure."""

        def after(status: bool) -> int:
            self.state.status = status
            return self._chain(statement, number)

        self._deeper(statement.line)
        flow = self._fork([lambda: after(True), lambda: after(False)], statement.line)
        self.depth -= 1
        return flow

    def _case(self, statement: Case) -> int:
        self._deeper(statement.line)
        flow = self.redirected(statement.redirects, lambda: self._cases(statement))
        self.depth -= 1
        return flow

    def _cases(self, statement: Case) -> int:
        subject = self.text(statement.subject)
        possible: list[int] = []
        for number, item in enumerate(statement.items):
            found = self._case_matches(subject, item.patterns)
            if found is not False:
                possible.append(number)
            if found:
                break
        else:
            possible.append(len(statement.items))
        if len(possible) == 1:
            return self._case_body(statement, possible[0])
        return self._fork([lambda n=n: self._case_body(statement, n) for n in possible], statement.line)  # type: ignore[misc]

    def _case_matches(self, subject: Text, words: Sequence[Word]) -> bool | None:
        unsure = False
        for word in words:
            pattern = self.pattern(word)
            if pattern == (("*", False),):
                return True
            found = None if pattern is None else self.glob(pattern, subject)
            if found:
                return True
            unsure |= found is None
        return None if unsure else False

    def _case_body(self, statement: Case, number: int) -> int:
        """The body of a pattern, which sees the status of what came before; no body at all succeeds."""
        if number >= len(statement.items) or not statement.items[number].body.statements:
            self.state.status = True
        while number < len(statement.items):
            item = statement.items[number]
            flow = self._block(item.body)
            if flow or item.ending == ";;":
                return flow
            number += 1
            if item.ending == ";;&":
                return self._cases(Case(statement.line, statement.subject, statement.items[number:]))
        return ON

    # -- loops ----------------------------------------------------------------------------------------------------

    def _for(self, statement: For) -> int:
        self._deeper(statement.line)
        flow = self.redirected(statement.redirects, lambda: self._each(statement))
        self.depth -= 1
        return flow

    def _each(self, statement: For) -> int:
        if statement.words is None:
            found = self.elements("@", statement.line)
            arguments = [argument_of(item, statement.line) for item in found.items]
        else:
            arguments = [argument for word in statement.words for argument in self.arguments(word)]
        if any(argument.open for argument in arguments):
            reason = next(a for a in arguments if a.open)
            return self._unknown_turns(statement.body, statement.line, lambda: self.assign(statement.name, reason.text))
        values = iter(arguments)

        def next_turn() -> bool:
            argument = next(values, None)
            if argument is None:
                return False
            self.assign(statement.name, argument.text)
            return True

        return self._turns(next_turn, statement.body, statement.line, ignoring=statement.name)

    def _counted_for(self, statement: CountedFor) -> int:
        self._deeper(statement.line)
        flow = self.redirected(statement.redirects, lambda: self._count(statement))
        self.depth -= 1
        return flow

    def _count(self, statement: CountedFor) -> int:
        self.line = statement.line
        self.number(self.text(statement.start), statement.line)
        first = True

        def next_turn() -> bool | None:
            nonlocal first
            if not first:
                self.number(self.text(statement.step), statement.line)
            first = False
            if statement.condition.constant is not None and not statement.condition.constant.strip():
                return True
            value = self.number(self.text(statement.condition), statement.line)
            return None if isinstance(value, Unknown) else bool(value)

        return self._turns(next_turn, statement.body, statement.line)

    def _while(self, statement: While) -> int:
        self._deeper(statement.line)
        flow = self.redirected(statement.redirects, lambda: self._until(statement))
        self.depth -= 1
        return flow

    def _until(self, statement: While) -> int:
        left = ON

        def next_turn() -> bool | None:
            nonlocal left
            left = self._test(lambda: self._block(statement.condition))
            status = self.state.status
            return False if left else None if status is None else status is not statement.until

        flow = self._turns(next_turn, statement.body, statement.line, lambda: left in (RETURN, EXIT))
        return left if left in (RETURN, EXIT) else flow

    def _turns(
        self,
        next_turn: Callable[[], bool | None],
        body: Block,
        line: int,
        left: Callable[[], bool] = lambda: False,
        ignoring: str = "",
    ) -> int:
        """Runs a loop while its turns are known. Once it is not known whether it goes on, or it may have been left,
        and a turn changes nothing any more, nothing further can come of it."""
        loop = Loop()
        self.frames[-1].loops.append(loop)
        flow, turns, quiet = ON, 0, 0
        self.state.status = True
        status, code = self.state.status, self.state.code
        while flow == ON:
            going = next_turn()
            turns += 1
            if going is None or turns > _MAX_TURNS:
                if going:
                    self.problem("limit", f"line {line}: the loop runs more than {_MAX_TURNS:,} times.", line)
                flow = self._unknown_turns(body, line)
                break
            if not going:
                # A loop has the status of its last turn, unless its condition leaves the function or script.
                if not left():
                    self.state.status, self.state.code = status, code
                break
            before = self.state.copy()
            pending = len(loop.broken)
            flow = self._after_turn(self._block(body), loop, line)
            status, code = self.state.status, self.state.code
            unsure = len(loop.broken) > pending or self.conditions
            quiet = quiet + 1 if unsure and self.state.same_values(before, ignoring) else 0
            if quiet > 1 and len(loop.broken):
                break
            if turns > 12 and len(loop.broken) > 8:
                # A wait with a deadline: counters change, and how often is not known.
                flow = self._unknown_turns(body, line)
                break
        self.frames[-1].loops.pop()
        if flow in (BREAK, CONTINUE):
            flow = ON
        if loop.broken:
            if flow:
                self._pend(self.state, flow, line)
            ended = [self.state] if flow == ON else []
            self.state = joined([*ended, *distinct(loop.broken)], line, self.path, repeated=turns > 2)
            flow = ON
        return flow

    def _after_turn(self, flow: int, loop: Loop, line: int) -> int:
        """After one turn of the body: `continue` goes on, known or possible."""
        if loop.continued:
            states = [*loop.continued, *([self.state] if flow in (ON, CONTINUE) else [])]
            loop.continued = []
            if flow in (RETURN, EXIT, BREAK):
                self._pend(self.state, flow, line)
            self.state = joined(states, line, self.path)
            return ON
        return ON if flow == CONTINUE else flow

    def _unknown_turns(self, body: Block, line: int, prepare: Callable[[], None] | None = None) -> int:
        """A loop of which it is not known how often it turns: never, once, or more."""
        loop = Loop()
        self.frames[-1].loops.append(loop)
        self.conditions.append(line)
        start = self.state
        states = [start]
        for _ in range(2):
            # Twice: the second turn begins with what the first may have changed.
            self.state = joined(states, line, self.path, repeated=True)
            if prepare is not None:
                prepare()
            flow = self._after_turn(self._block(body), loop, line)
            if flow in (ON, BREAK):
                states.append(self.state)
            else:
                self._pend(self.state, flow, line)
            states.extend(distinct(loop.broken))
            loop.broken = []
        self.conditions.pop()
        self.frames[-1].loops.pop()
        self.state = joined(states, line, self.path, repeated=True)
        self.state.status = None
        return ON

    # -- simple statements ----------------------------------------------------------------------------------------

    def _function(self, statement: Function) -> int:
        self.state.functions = {**self.state.functions, statement.name: (statement,)}
        self.state.status = True
        return ON

    def _compute(self, statement: Compute) -> int:
        self.line = statement.line
        value = self.number(self.text(statement.expression), statement.line)
        self.state.status = None if isinstance(value, Unknown) else bool(value)
        return ON

    def _condition(self, statement: Condition) -> int:
        self.line = statement.line
        self.state.status = self.holds(statement.test)
        return ON

    def _background(self, statement: Background) -> int:
        self.background += 1
        state = self.state
        self.state = state.copy()
        # A function's loops and frames stay: leaving them from the background leaves only the background.
        self._contained(lambda: self._run(statement.statement))
        state.after(self.state)
        self.state = state
        self.state.status = True
        self.background -= 1
        return ON

    def _contained(self, run: Callable[[], int]) -> int:
        """Runs something in a process of its own: leaving a loop, function or script ends only that process."""
        frame = Frame(contained=True)
        self.frames.append(frame)
        ended = self.ended
        flow = run()
        self.ended = ended
        self.frames.pop()
        ends = [*frame.returned, *frame.exited]
        if ends:
            self.state = joined(distinct([*ends, self.state]), self.line, self.path)
        return flow

    def _group(self, statement: Group) -> int:
        self._deeper(statement.line)
        if statement.subshell:
            flow = self.redirected(statement.redirects, lambda: self._subshell(statement.body))
        else:
            flow = self.redirected(statement.redirects, lambda: self._block(statement.body))
        self.depth -= 1
        return flow

    def _subshell(self, body: Block) -> int:
        state = self.state
        self.state = state.copy()
        self._contained(lambda: self._block(body))
        state.after(self.state)
        self.state = state
        return ON

    def _pipeline(self, statement: Pipeline) -> int:
        self._deeper(statement.line)
        if statement.negated:
            self.tested += 1
        one = len(statement.stages) == 1
        flow = self._run(statement.stages[0]) if one else self._stages(statement.stages)
        if statement.negated:
            self.tested -= 1
        if statement.negated and self.state.status is not None:
            self.state.status = not self.state.status
        self.depth -= 1
        return flow

    def _stages(self, stages: Sequence[Statement]) -> int:
        state = self.state
        files, passed = state.files, state.input
        for number, stage in enumerate(stages):
            self.state = state.copy()
            self.state.files, self.state.input = files, passed
            if number < len(stages) - 1:
                self.state.printed = ()
            self._contained(lambda stage=stage: self._run(stage))  # type: ignore[misc]
            files, passed = self.state.files, concat(self.state.printed or ())
        rest = state.input
        state.after(self.state)
        state.input, self.state = rest, state
        return ON

    def output(self, body: Block, line: int) -> Text:
        self._deeper(line)
        self.substitutions += 1
        state, printed = self.state, self.state.printed
        self.state = state.copy()
        self.state.printed, self.state.failing = (), False
        self._contained(lambda: self._block(body))
        text = concat(self.state.printed or ())
        state.after(self.state)
        state.printed, self.state = printed, state
        self.depth -= 1
        return text

    # -- commands -------------------------------------------------------------------------------------------------

    def _simple(self, command: Simple) -> int:
        if command.redirects:
            return self.redirected(command.redirects, lambda: self._command(command))
        return self._command(command)

    def _command(self, command: Simple) -> int:
        words = command.words
        if not words:
            before = self.substitutions
            for assignment in command.assignments:
                self.apply(assignment)
            if self.substitutions == before:
                self.state.status = True
            return ON
        first = words[0]
        assert isinstance(first, Word)
        name = first.constant
        if name in ("echo", "printf") and self.state.printed is None and not command.assignments and _harmless(words):
            self.state.status = True
            return ON
        if name in DECLARATIONS:
            return self.declare_words(name, command)
        arguments: list[Argument] = []
        for word in words:
            if isinstance(word, Word):
                arguments.extend(self.arguments(word))
        if not arguments:
            self.state.status = True
            return ON
        return self._invoke(arguments, command)

    def _invoke(self, arguments: list[Argument], command: Simple) -> int:
        name = arguments[0].text
        if not isinstance(name, str):
            if program_name(name) or inside(arguments) is not None:
                return self._external(arguments, command, self._prefix_values(command.assignments))
            reason = unknowns(name)[0]
            message = f"line {command.line}: which command runs is unknown ({reason.reason})."
            first = command.words[0]
            if isinstance(first, Word) and first.constant is not None and HOLE in first.constant:
                # The text that is run begins a command with something unknown, which may be anything.
                self.taint(reason, message, command.line)
            else:
                self.problem("unknown-command", message, command.line)
            return self._external(arguments, command, {})
        functions = self.state.functions.get(name, (None,))
        if len(functions) == 1:
            return self._invoke_as(functions[0], name, arguments, command)
        return self._fork([lambda f=f: self._invoke_as(f, name, arguments, command) for f in functions], command.line)  # type: ignore[misc]

    def _invoke_as(self, function: Function | None, name: str, arguments: list[Argument], command: Simple) -> int:
        if function is not None:
            return self._with_prefix(command.assignments, lambda: self._call(name, function, arguments, command.line))
        builtin = self._builtins.get(name)
        if builtin is not None:
            return self._with_prefix(command.assignments, lambda: builtin(arguments, command))
        return self._external(arguments, command, self._prefix_values(command.assignments))

    def _prefix_values(self, assignments: Sequence[Assignment]) -> dict[str, Text]:
        return {a.name: self.text(a.value) for a in assignments if a.value is not None}

    def _with_prefix(self, assignments: Sequence[Assignment], run: Callable[[], int]) -> int:
        """`NAME=value` before a function or builtin holds, exported, while that runs."""
        if not assignments:
            return run()
        values = self._prefix_values(assignments)
        before = {name: self.state.variables.get(name) for name in values}
        exported = self.state.exported
        self.state.variables.update(values)
        self.state.exported = {**exported, **values}
        flow = run()
        for name, old in before.items():
            self._restore(name, old, name in exported)
        return flow

    def _restore(self, name: str, value: Value | None, exported: bool) -> None:
        if value is None:
            self.state.variables.pop(name, None)
        else:
            self.assign(name, value)
        if name in self.state.exported and (value is None or not exported):
            self.state.exported = {k: v for k, v in self.state.exported.items() if k != name}

    def _call(self, name: str, function: Function, arguments: list[Argument], line: int) -> int:
        self._deeper(line)
        frame = Frame()
        self.frames.append(frame)
        outer = self.state.arguments
        path, sources = self.path, self.sources
        self.set_positional(arguments[1:])
        self.path = function.path
        self.sources = [*sources, f"{ROOT}/{function.path}"]
        self.call_names.append(name)
        flow = self._run(function.parse())
        flow = self._returned(frame, flow, line, function.path)
        if flow == RETURN and self.state.status is False and not self.tested and not self.conditions:
            self.problem(
                "fails", f"line {line}: {name} fails here, and what it does after that is left out.", line, path
            )
        self.call_names.pop()
        self.path, self.sources = path, sources
        self.frames.pop()
        for hidden, (value, exported) in frame.hidden.items():
            self._restore(hidden, value, exported)
        self.state.arguments = outer
        self.depth -= 1
        return EXIT if flow == EXIT else ON

    def _returned(self, frame: Frame, flow: int, line: int, path: str) -> int:
        """The end of a function or a file read, which may also have been left before."""
        if not frame.returned:
            return flow
        if flow == EXIT:
            self._pend(self.state, flow, line)
        live = [self.state] if flow != EXIT else []
        self.state = joined([*live, *distinct(frame.returned)], line, path)
        return RETURN

    def _external(self, arguments: list[Argument], command: Simple, prefix: Mapping[str, Text]) -> int:
        """A program: computed where its output follows from its words, else recorded."""
        self._tick(command.line)
        name = arguments[0].text
        if isinstance(name, str) and (self.state.printed is not None or name in tools.TESTS) and tools.known(name):
            words = all_known(arguments)
            stdin = self.state.input if isinstance(self.state.input, str) else None
            result = None if words is None else tools.run(name, words[1:], stdin)
            if result is not None:
                self.state.print(result[0])
                self.state.status = result[1]
                return ON
        environment = {**self.state.exported, **prefix} if prefix else self.state.exported
        if self.state.printed is not None and program_name(name) in _PYTHON:
            printed = self._python(arguments, environment)
            if printed is not None:
                self.state.print(printed)
                self.state.status = True
                return ON
        self.record(arguments, command.line, environment)
        added, rest = without_prefixes(arguments)
        self.edit_files(rest or arguments)
        self.state.status = None
        flow = self._inner(rest, {**environment, **added} if added else environment, command.line)
        if flow is None and self.state.printed is not None and name not in _SILENT:
            shown = " ".join(str(a) for a in arguments[:4])[:60]
            found = _location(arguments, command.line, self.path)
            self.state.print(found or unknown(f"output of `{shown}`", command.line, self.path))
        return EXIT if name == "exec" and len(arguments) > 1 else ON

    def _python(self, arguments: Sequence[Argument], environment: Mapping[str, Text]) -> str | None:
        """What a small Python program prints: `python3 -c "…"`, or one that comes as a here-document."""
        words = all_known(arguments)
        if words is None:
            return None
        if words[1:2] == ["-c"] and len(words) > 2:
            program, rest = words[2], words[3:]
        elif words[1:2] in ([], ["-"]) and isinstance(self.state.input, str) and self.state.input:
            program, rest = self.state.input, words[2:]
        else:
            return None
        known = {name: value for name, value in environment.items() if isinstance(value, str)}

        def read(path: str) -> str | None:
            text = self.content(path)
            return text if isinstance(text, str) else None

        return small_python.run(program, rest, known, frozenset(set(environment) - set(known)), read)

    def record(self, arguments: Sequence[Argument], line: int, environment: Mapping[str, Text]) -> None:
        if len(self.commands) >= _MAX_COMMANDS:
            raise LimitReached(f"more than {_MAX_COMMANDS:,} programs would run", line)
        conditions = tuple(dict.fromkeys(self.doubts()))
        self.commands.append(
            Command(
                tuple(arguments),
                environment,
                self.state.files,
                self.path,
                line,
                conditions,
                self.background > 0,
                self.state.cwd,
                self.state.tainted,
            )
        )

    def _inner(self, rest: Sequence[Argument], environment: Mapping[str, Text], line: int) -> int | None:
        """The script that a command, without its prefixes, runs in a shell, job or container of its own. None where it
        runs none."""
        found = inside(rest)
        if found is None:
            return self._executable(rest, environment, line) if rest else None
        values = container_environment(found, environment)
        aliases, cwd, files = self.aliases, self.state.cwd, self.state.files
        self.aliases = {**self._mounted(found), **aliases}
        if found.workdir is not None:
            self.state.cwd = found.workdir.rstrip("/") or "/"
        self.state.files = {**files, **self._mounted_files(found)}
        if found.text is not None:
            text = found.text
            flow: int | None = self._child(values, found.words, lambda: self._child_text(text, line), line)
        else:
            assert found.script is not None
            flow = self._child_script(found.script, values, found.words, line)
        self.aliases, self.state.cwd = aliases, cwd
        return flow

    def _executable(self, rest: Sequence[Argument], environment: Mapping[str, Text], line: int) -> int | None:
        """A script of the repository that is run by its own name."""
        name = rest[0].text
        if not isinstance(name, str) or "/" not in name or not name.endswith(".sh"):
            return None
        return self._child_script(rest[0], environment, rest[1:], line)

    def _mounted(self, found: Inside) -> dict[str, str]:
        """Folders inside of a container that are folders of the repository."""
        aliases: dict[str, str] = {}
        for place, source in found.mounts.items():
            path = "" if source == ROOT else self.repository_path(source)
            if path is not None:
                aliases[place] = path
        return aliases

    def _mounted_files(self, found: Inside) -> Files:
        files = self.state.files
        return {place: files[source] for place, source in found.mounts.items() if source in files}

    def _child_text(self, argument: Argument, line: int) -> int:
        if argument.open or (isinstance(argument.text, Mixed) and len(argument.text.parts) == 1):
            reason = unknowns(argument.text)[0].reason
            self.problem("unknown-command", f"line {line}: what the inner shell runs is unknown ({reason}).", line)
            return ON
        return self._text_as_script(argument.text, line)

    def _text_as_script(self, text: Text, line: int) -> int:
        source = self.with_holes(text)
        if len(source) > 200_000:
            raise LimitReached("a text to run is longer than 200,000 characters", line)
        return self._block(parse(source, self.path, line))

    def _child_script(
        self, argument: Argument, environment: Mapping[str, Text], words: Sequence[Argument], line: int
    ) -> int | None:
        name = argument.text
        path = self.repository_path(name) if isinstance(name, str) else None
        block = self.script(path) if path is not None else None
        if block is None or path is None:
            return None

        def run() -> int:
            outer = self.path, self.script_name, self.sources
            self.path, self.script_name, self.sources = path, name, [f"{ROOT}/{path}"]
            flow = self._block(block)
            self.path, self.script_name, self.sources = outer
            return flow

        return self._child(environment, words, run, line)

    def _child(
        self, environment: Mapping[str, Text], words: Sequence[Argument], run: Callable[[], int], line: int
    ) -> int:
        """A shell of its own: it knows the exported variables only."""
        self._deeper(line)
        parent = self.state
        child = State()
        child.variables.update(environment)
        child.exported, child.files = environment, parent.files
        child.cwd, child.tainted = parent.cwd, parent.tainted
        child.printed, child.input = parent.printed, parent.input
        self.state = child
        self.set_positional(words)
        tested, self.tested = self.tested, 0
        self._contained(run)
        self.tested = tested
        parent.after(self.state)
        self.state = parent
        self.depth -= 1
        return ON

    def _eval(self, arguments: list[Argument], command: Simple) -> int:
        text = concat(piece for a in arguments[1:] for piece in (" ", a.text))
        if isinstance(text, Mixed) and not any(isinstance(p, str) and p.strip() for p in text.parts):
            reason = unknowns(text)[0]
            message = f"line {command.line}: what `eval` runs is unknown ({reason.reason})."
            self.taint(Unknown(f"eval at line {command.line}", command.line, self.path), message, command.line)
            self.state.status = None
            return ON
        self._deeper(command.line)
        flow = self._text_as_script(text, command.line)
        self.depth -= 1
        return flow

    def _source(self, arguments: list[Argument], command: Simple) -> int:
        line = command.line
        name = arguments[1].text if len(arguments) > 1 else ""
        path = self.repository_path(name) if isinstance(name, str) and name else None
        touched = isinstance(name, str) and self.absolute(name) in self.state.files
        block = self.script(path) if path is not None and not touched else None
        if block is None or path is None:
            written = self.content(name) if touched else None
            if written is not None:
                self._deeper(line)
                flow = self._text_as_script(written, line)
                self.depth -= 1
                return EXIT if flow == EXIT else ON
            message = (
                f"line {line}: {show(name)} is read here, which is not in the repository; what it sets is unknown."
            )
            self.taint(Unknown(f"{show(name)} read at line {line}", line, self.path), message, line)
            self.state.status = None
            return ON
        if self.sources.count(f"{ROOT}/{path}") > 1:
            raise LimitReached(f"{path} reads itself again and again", line)
        return self._sourced(block, path, arguments[2:], line)

    def _sourced(self, block: Block, path: str, words: list[Argument], line: int) -> int:
        self._deeper(line)
        outer = self.state.arguments
        outer_path, outer_sources = self.path, self.sources
        frame = Frame()
        frame.hidden = self.frames[-1].hidden
        self.frames.append(frame)
        if words:
            self.set_positional(words)
        self.path, self.sources = path, [*self.sources, f"{ROOT}/{path}"]
        flow = self._block(block)
        flow = self._returned(frame, flow, line, path)
        self.frames.pop()
        self.path, self.sources = outer_path, outer_sources
        if words:
            self.state.arguments = outer
        self.depth -= 1
        return EXIT if flow == EXIT else ON


def _location(arguments: Sequence[Argument], line: int, path: str) -> Text | None:
    """What `command -v python3` or `which python3` print, a path of which the end is known: no server starts where
    there is none. Another program may be missing, and then nothing is printed."""
    words = all_known(arguments)
    if words is None or words[:-1] not in (["command", "-v"], ["which"], ["type", "-P"]) or words[-1] not in _PYTHON:
        return None
    return concat((unknown(f"folder of {words[-1]}", line, path), f"/{words[-1]}\n"))


_PYTHON = frozenset({"python", "python3"})
_SILENT = frozenset(
    {"chmod", "chown", "cp", "disown", "kill", "ln", "mkdir", "mv", "pkill", "rm", "rmdir", "sleep", "touch", "wait"}
)


def _may_end(statement: Statement) -> bool:
    """Whether a statement that fails ends a script with `set -e`."""
    if isinstance(statement, Group):
        return statement.subshell
    if isinstance(statement, Pipeline):
        return not statement.negated
    return isinstance(statement, Simple | Compute | Condition)


def _harmless(words: Sequence[Word | Assignment]) -> bool:
    """Whether expanding the words changes nothing, and so may be left out."""
    for word in words[1:]:
        if isinstance(word, Assignment):
            return False
        for part in word.parts:
            operator = getattr(part, "operator", "")
            if operator in (":=", "=", ":?", "?") or not isinstance(part, Parameter | Literal):
                return False
        if word.constant is not None and word.constant.startswith("-v"):
            return False
    return True
