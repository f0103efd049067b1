"""Reads bash source into the syntax tree of `syntax`.

A parser of its own, because an evaluation that may end in `pass` must not rest on a tree that is silently wrong:
tree-sitter's bash grammar takes `A=1 B=2` followed by a line break for the start of one long command, loses the pipe
of a here-document's line, and needs 40 seconds for a line of 100,000 closing brackets. This one is checked against
bash itself in the tests, reads in linear time, and stops at the first fault, as bash does: what stands before it is
still known, what follows is not (`Unreadable`).

Source: the bash reference manual, "Shell Syntax" and "Shell Expansions".
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection
from functools import cache, lru_cache
from itertools import pairwise

import msgspec

from reviewer_tui.launch.syntax import (
    AndOr,
    Arithmetic,
    ArrayElement,
    Assignment,
    Background,
    Block,
    Case,
    CaseItem,
    Comparison,
    Compute,
    Condition,
    CountedFor,
    Expression,
    For,
    Function,
    Group,
    Heredoc,
    If,
    Junction,
    Literal,
    Negation,
    Parameter,
    Part,
    Pipeline,
    Process,
    Redirect,
    Simple,
    Statement,
    Substitution,
    Unreadable,
    While,
    Word,
)

MAX_SOURCE = 1_000_000
"""Characters of one script; the longest script of the repository has 90,000."""

_MAX_DEPTH = 40
_MAX_PIECES = 60_000
_REMEMBERED = 256  # texts whose trees are kept

DECLARATIONS = frozenset({"export", "local", "declare", "typeset", "readonly"})
"""Commands whose arguments are assignments."""

_BLANK = re.compile(r"(?:[ \t]|\\\n)+")
_COMMENT = re.compile(r"#[^\n]*")
_WORD_END = frozenset(" \t\n;&|<>()")
_UNQUOTED = re.compile(r"[^ \t\n;&|<>()'\"$`\\]+")
_UNQUOTED_REGEX = re.compile(r"[^ \t\n'\"$`\\()\[]+")
_REGEX_CLASS = re.compile(r"\[\^?\]?(?:\[:\w+:\]|[^\]\n])*\]")
_IN_DOUBLE = re.compile(r"[^\"$`\\]+")
_IN_HEREDOC = re.compile(r"[^$`\\]+")
_IN_BRACES = {stops: re.compile(rf"[^'\"$`\\{re.escape(stops)}]+") for stops in ("}", ":}", "/}")}
_IN_ARITHMETIC = re.compile(r"[^'\"$`\\()\[\];]+")
_IN_SINGLE = re.compile(r"[^']*")
_IN_ANSI = re.compile(r"(?:[^'\\]|\\.)*", re.S)
_IN_BACKQUOTES = re.compile(r"(?:[^`\\]|\\.)*", re.S)
_KEYWORD = re.compile(
    r"(?:if|then|elif|else|fi|for|select|while|until|do|done|case|esac|in|function|time|coproc|\{|\}|!|\[\[)"
    r"(?=[ \t\n;&|<>()]|\Z)"
)
_FUNCTION = re.compile(r"([A-Za-z_][\w.:+@-]*)[ \t]*\([ \t]*\)")
_NO_ARGUMENTS = re.compile(r"\([ \t]*\)")
_FUNCTION_NAME = re.compile(r"[^\s;&|<>()'\"$`\\]+")
_NAME = re.compile(r"[A-Za-z_]\w*")
_VARIABLE = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!_-]")
_ASSIGN = re.compile(r"([A-Za-z_]\w*)(\+?=)")
_INDEXED = re.compile(r"([A-Za-z_]\w*)\[")
_ASSIGN_SIGN = re.compile(r"\+?=")
_REDIRECT = re.compile(r"(\d{1,9}|\{[A-Za-z_]\w*\})?(<<<|<<-|<<|<>|<&|>&|>>|>\||<|>)|(&>>|&>)")
_PARAMETER_NAME = re.compile(r"[A-Za-z_]\w*|\d+|[@*#?$!_-]")
_PARAMETER_OPERATOR = re.compile(r":[-=?+]|[-=?+]|##|#|%%|%|//|/#|/%|/|\^\^|\^|,,|,|@[A-Za-z]|:")
_UNARY = re.compile(r"-[a-zA-Z](?=[ \t\n])")
_BINARY = re.compile(r"(?:==|!=|=~|=|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef)(?=[ \t\n]))")
_BRACES = re.compile(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?\Z")
# A stretch of script whose quotes are balanced and whose comments hold no quote that counts.
_BALANCED = re.compile(r"(?:[^'\"\\#\s]|\\.|\s+#[^\n]*|\s|(?<=\S)#|'[^']*+'|\"(?:[^\"\\]|\\.)*+\")*+", re.S)
_HEREDOC_START = re.compile(r"(?<!<)<<-?[ \t]*\\?(['\"]?)(\w+)\1(?!<)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\033", "E": "\033", "f": "\f", "v": "\v"}
_ANSI_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3})|(.))", re.S)


class _Fault(Exception):
    """The text is not bash here."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset, self.message = offset, message


@lru_cache(maxsize=_REMEMBERED)
def parse(source: str, path: str, line: int | None = None) -> Block:
    """The statements of a script. `line` is given for a text that has no lines of its own (`bash -c`, `eval`).

    A fault of the text becomes an `Unreadable` statement in its place, the last of the block. The texts asked for last
    are remembered: every row of a sweep, every check and most pull requests read the same scripts.
    """
    if len(source) > MAX_SOURCE:
        return Block((Unreadable(1, f"the script is longer than {MAX_SOURCE:,} characters"),))
    return _Parser(source, path, _Lines(source, line)).program()


class _Lines:
    """Lines of a source by offset."""

    def __init__(self, source: str, fixed: int | None = None, first: int = 1) -> None:
        self.fixed, self.first = fixed, first
        self.breaks = [] if fixed is not None else [m.start() for m in re.finditer("\n", source)]

    def at(self, offset: int) -> int:
        return self.fixed if self.fixed is not None else bisect_right(self.breaks, offset - 1) + self.first


def word(parts: list[Part], line: int) -> Word:
    """A word, with its constant where all of it is plain text."""
    if all(isinstance(part, Literal) for part in parts):
        return Word(tuple(parts), line, "".join(part.text for part in parts if isinstance(part, Literal)))
    return Word(tuple(parts), line)


class _Parser:
    def __init__(self, source: str, path: str, lines: _Lines, start: int = 0) -> None:
        self.source, self.path, self.lines = source, path, lines
        self.at, self.end = start, len(source)
        self.depth = self.pieces = 0
        self.heredocs: list[Heredoc] = []
        self.unclosed: set[str] = set()
        self.not_arithmetic: set[int] = set()

    # -- statements ---------------------------------------------------------------------------------------------

    def program(self) -> Block:
        statements: list[Statement] = []
        try:
            self._statements(statements, ())
        except _Fault as fault:
            statements.append(Unreadable(self.lines.at(min(fault.offset, self.end)), fault.message))
        return Block(tuple(statements))

    def _block(self, closers: Collection[str]) -> Block:
        statements: list[Statement] = []
        self._statements(statements, closers)
        return Block(tuple(statements))

    def _statements(self, statements: list[Statement], closers: Collection[str]) -> None:
        source = self.source
        while True:
            self._line_breaks()
            if self.at >= self.end:
                if closers:
                    raise _Fault(self.at, f"the script ends where {' or '.join(map(repr, sorted(closers)))} is missing")
                return
            if closers and self._closes(closers):
                return
            line = self.lines.at(self.at)
            statement = self._and_or()
            self._blanks()
            char = source[self.at : self.at + 1]
            if char == "&":
                self.at += 1
                statement = Background(line, statement)
            elif char == ";":
                if source.startswith((";;", ";&"), self.at):
                    if ";;" not in closers:
                        raise _Fault(self.at, "`;;` outside of `case`")
                else:
                    self.at += 1
            elif char not in ("", "\n", ")", "#"):
                raise _Fault(self.at, f"unexpected {char!r}")
            statements.append(statement)

    def _closes(self, closers: Collection[str]) -> bool:
        if self.source.startswith((";;", ";&"), self.at):
            return ";;" in closers
        if self.source.startswith(")", self.at):
            return ")" in closers
        return self._keyword() in closers

    def _keyword(self) -> str:
        match = _KEYWORD.match(self.source, self.at)
        return match.group() if match else ""

    def _expect(self, keyword: str) -> None:
        self._line_breaks()
        if self._keyword() != keyword:
            raise _Fault(self.at, f"{keyword!r} is missing")
        self.at += len(keyword)

    def _and_or(self) -> Statement:
        line = self.lines.at(self.at)
        first = self._pipeline()
        rest: list[tuple[str, Statement]] = []
        while True:
            self._blanks()
            operator = self.source[self.at : self.at + 2]
            if operator not in ("&&", "||"):
                break
            self.at += 2
            self._line_breaks()
            rest.append((operator, self._pipeline()))
        return AndOr(line, first, tuple(rest)) if rest else first  # type: ignore[arg-type]

    def _pipeline(self) -> Statement:
        line, negated = self.lines.at(self.at), False
        while (keyword := self._keyword()) in ("!", "time"):
            self.at += len(keyword)
            negated ^= keyword == "!"
            self._blanks()
        stages = [self._command()]
        while True:
            self._blanks()
            if not self.source.startswith("|", self.at) or self.source.startswith("||", self.at):
                break
            self.at += 2 if self.source.startswith("|&", self.at) else 1
            self._line_breaks()
            stages.append(self._command())
        return Pipeline(line, tuple(stages), negated) if negated or len(stages) > 1 else stages[0]

    def _command(self) -> Statement:
        self._count()
        start, line = self.at, self.lines.at(self.at)
        keyword = self._keyword()
        if keyword:
            read = self._compounds().get(keyword)
            if read is None:
                raise _Fault(start, f"unexpected {keyword!r}")
            self.at += len(keyword)
            return self._nested(lambda: read(line))
        if self.source.startswith("((", start):
            expression = self._try_arithmetic(start)
            if expression is not None:
                return Compute(line, expression, self._redirects())
        if self.source.startswith("(", start):
            self.at += 1
            return self._nested(lambda: self._subshell(line))
        definition = _FUNCTION.match(self.source, start)
        if definition:
            self.at = definition.end()
            return self._function(definition.group(1), line)
        return self._simple(line)

    def _compounds(self) -> dict[str, Callable[[int], Statement]]:
        return {
            "if": self._if,
            "for": self._for,
            "select": self._for,
            "while": lambda line: self._while(line, until=False),
            "until": lambda line: self._while(line, until=True),
            "case": self._case,
            "function": self._function_keyword,
            "{": self._group,
            "[[": self._condition,
        }

    def _nested(self, read: Callable[[], Statement]) -> Statement:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise _Fault(self.at, f"commands are nested more than {_MAX_DEPTH} deep")
        statement = read()
        self.depth -= 1
        return statement

    def _subshell(self, line: int) -> Statement:
        body = self._block((")",))
        self.at += 1
        return Group(line, body, True, self._redirects())

    def _group(self, line: int) -> Statement:
        body = self._block(("}",))
        self.at += 1
        return Group(line, body, False, self._redirects())

    def _if(self, line: int) -> Statement:
        branches: list[tuple[Block, Block]] = []
        otherwise = None
        while True:
            condition = self._block(("then",))
            self._expect("then")
            branches.append((condition, self._block(("elif", "else", "fi"))))
            keyword = self._keyword()
            self.at += len(keyword)
            if keyword == "else":
                otherwise = self._block(("fi",))
                self._expect("fi")
            if keyword != "elif":
                return If(line, tuple(branches), otherwise, self._redirects())

    def _while(self, line: int, until: bool) -> Statement:
        condition = self._block(("do",))
        self._expect("do")
        body = self._block(("done",))
        self._expect("done")
        return While(line, condition, body, until, self._redirects())

    def _for(self, line: int) -> Statement:
        self._blanks()
        if self.source.startswith("((", self.at):
            self.at += 2
            start, condition, step = self._expression(";"), self._expression(";"), self._expression("))")
            self._blanks()
            if self.source.startswith(";", self.at):
                self.at += 1
            body = self._do()
            return CountedFor(line, start, condition, step, body, self._redirects())
        match = _NAME.match(self.source, self.at)
        if match is None:
            raise _Fault(self.at, "`for` without a name")
        self.at = match.end()
        self._line_breaks()
        words: tuple[Word, ...] | None = None
        if self._keyword() == "in":
            self.at += 2
            words = tuple(self._words())
            self._blanks()
        if self.source.startswith(";", self.at):
            self.at += 1
        body = self._do()
        return For(line, match.group(), words, body, self._redirects())

    def _do(self) -> Block:
        self._line_breaks()
        opener, closer = ("{", "}") if self._keyword() == "{" else ("do", "done")
        self._expect(opener)
        body = self._block((closer,))
        self._expect(closer)
        return body

    def _case(self, line: int) -> Statement:
        self._blanks()
        subject = self._word()
        self._expect("in")
        items: list[CaseItem] = []
        while True:
            self._line_breaks()
            if self._keyword() == "esac":
                self.at += 4
                return Case(line, subject, tuple(items), self._redirects())
            items.append(self._case_item())

    def _case_item(self) -> CaseItem:
        line = self.lines.at(self.at)
        if self.source.startswith("(", self.at):
            self.at += 1
        patterns: list[Word] = []
        while True:
            self._blanks()
            patterns.append(self._word(pattern=True))
            self._blanks()
            char = self.source[self.at : self.at + 1]
            self.at += 1
            if char == ")":
                break
            if char != "|":
                raise _Fault(self.at - 1, "`)` of a `case` pattern is missing")
        body = self._block((";;", "esac"))
        ending = ";;"
        for operator in (";;&", ";;", ";&"):
            if self.source.startswith(operator, self.at):
                ending, self.at = operator, self.at + len(operator)
                break
        return CaseItem(tuple(patterns), body, ending, line)

    def _function_keyword(self, line: int) -> Statement:
        self._blanks()
        match = _FUNCTION_NAME.match(self.source, self.at)
        if match is None:
            raise _Fault(self.at, "`function` without a name")
        self.at = match.end()
        self._blanks()
        brackets = _NO_ARGUMENTS.match(self.source, self.at)
        if brackets:
            self.at = brackets.end()
        return self._function(match.group(), line)

    def _function(self, name: str, line: int) -> Statement:
        self.pieces += 8
        self._line_breaks()
        start = self.at
        end = self._lazy_end(start)
        if end is None:
            body = self._nested(self._command)
            return Function(line, name, lambda: body, self.path)
        self.at = end
        return Function(line, name, cache(lambda: self._later(start, end)), self.path)

    def _later(self, start: int, end: int) -> Statement:
        """The body of a function that was skipped, from `start` up to `end`."""
        parser = _Parser(self.source, self.path, self.lines, start)
        try:
            body = parser._command()
            if parser.at == end:
                return body
            fault = _Fault(start, "the end of the function is not where it seems to be")
        except _Fault as found:
            fault = found
        return Unreadable(self.lines.at(min(fault.offset, self.end)), fault.message)

    def _lazy_end(self, start: int) -> int | None:
        """Where a function's `{ … }` certainly ends: at the first line that is `}` at the header's own indentation,
        if quotes, here-documents and braces are balanced up to there. None where that needs reading it."""
        source = self.source
        if self.heredocs or not source.startswith("{\n", start):
            return None
        line_start = source.rfind("\n", 0, start) + 1
        indent = source[
            line_start : line_start + len(source[line_start:start]) - len(source[line_start:start].lstrip(" \t"))
        ]
        if indent in self.unclosed:
            return None
        closing = source.find(f"\n{indent}}}\n", start)
        if closing < 0:
            self.unclosed.add(indent)
            return None
        whole = _BALANCED.match(source, start + 1, closing + 1)
        if whole is None or whole.end() != closing + 1:
            return None
        if re.compile(rf"\n{indent}\S[^\n]*\{{\n|\n{indent}\{{\n").search(source, start, closing):
            # Another brace opens at the same indentation: which one the line closes cannot be told from here.
            return None
        for heredoc in _HEREDOC_START.finditer(source, start, closing):
            if not re.compile(rf"\n\t*{re.escape(heredoc.group(2))}\n").search(source, heredoc.end(), closing + 1):
                return None
        return closing + len(indent) + 2

    def _condition(self, line: int) -> Statement:
        test = self._or_test()
        self._test_blanks()
        if not self.source.startswith("]]", self.at):
            raise _Fault(self.at, "`]]` is missing")
        self.at += 2
        return Condition(line, test, self._redirects())

    def _try_arithmetic(self, start: int) -> Word | None:
        """The inside of `((…))`, whose brackets begin at `start`; None where they are two subshells."""
        if start in self.not_arithmetic:
            return None
        before, depth = self.at, self.depth
        self.at = start + 2
        self.depth = self._deeper(start)
        try:
            expression = self._expression("))")
        except _Fault:
            # Remembered, so that brackets nested in brackets are tried once each.
            self.not_arithmetic.add(start)
            self.at, self.depth = before, depth
            return None
        self.depth = depth
        return expression

    # -- simple commands ----------------------------------------------------------------------------------------

    def _simple(self, line: int) -> Statement:
        start = self.at
        assignments: list[Assignment] = []
        words: list[Word | Assignment] = []
        redirects: list[Redirect] = []
        declares = False
        while True:
            self._blanks()
            char = self.source[self.at : self.at + 1]
            if char in ("", "\n", ";", "|", ")") or (char == "#" and self._word_start()):
                break
            redirect = self._redirect()
            if redirect is not None:
                redirects.append(redirect)
                continue
            if char in ("&", "("):
                break
            assignment = self._assignment() if declares or not words else None
            if assignment is None:
                found = self._expanded_word()
                if not words and found and found[0].constant in DECLARATIONS:
                    declares = True
                words.extend(found)
            elif words:
                words.append(assignment)
            else:
                assignments.append(assignment)
        if self.at == start:
            raise _Fault(start, f"unexpected {self.source[start : start + 1]!r}")
        return Simple(line, tuple(assignments), tuple(words), tuple(redirects))

    def _redirects(self) -> tuple[Redirect, ...]:
        found: list[Redirect] = []
        while True:
            self._blanks()
            redirect = self._redirect()
            if redirect is None:
                return tuple(found)
            found.append(redirect)

    def _redirect(self) -> Redirect | None:
        match = _REDIRECT.match(self.source, self.at)
        if match is None:
            return None
        operator = match.group(2) or match.group(3)
        if operator in ("<", ">") and not match.group(1) and self.source.startswith("(", match.end()):
            return None
        line, number = self.lines.at(self.at), match.group(1) or ""
        descriptor = int(number) if number.isdigit() else -1
        self.at = match.end()
        self._blanks()
        if operator in ("<<", "<<-"):
            heredoc = self._heredoc(operator == "<<-", line)
            return Redirect("<<", descriptor, None, line, heredoc)
        if self.source[self.at : self.at + 1] in ("", *"\n;&|"):
            raise _Fault(self.at, "a redirection without a target")
        return Redirect(operator, descriptor, self._word(), line)

    def _heredoc(self, indented: bool, line: int) -> Heredoc:
        target = self._word()
        if target.constant is None:
            raise _Fault(self.at, "a here-document without a plain delimiter")
        raw = any(isinstance(part, Literal) and part.quoted for part in target.parts)
        heredoc = Heredoc(target.constant, raw, indented, line)
        self.heredocs.append(heredoc)
        return heredoc

    def _read_heredocs(self) -> None:
        """The bodies of the here-documents that the line just ended has named; `at` is the start of the next line."""
        pending, self.heredocs = self.heredocs, []
        for heredoc in pending:
            first, lines = self.lines.at(self.at), []
            while self.at < self.end:
                stop = self.source.find("\n", self.at)
                stop = self.end if stop < 0 else stop
                text = self.source[self.at : stop]
                self.at = min(stop + 1, self.end)
                if heredoc.indented:
                    text = text.lstrip("\t")
                if text == heredoc.delimiter:
                    break
                lines.append(text)
            body = "".join(f"{text}\n" for text in lines)
            if heredoc.raw:
                heredoc.body = Word((Literal(body, True),), first, body)
            else:
                fixed = self.lines.fixed
                inner = _Parser(body, self.path, _Lines(body, fixed, first))
                inner.depth = self.depth + 1
                heredoc.body = word(inner._double(None), first)

    def _assignment(self) -> Assignment | None:
        start, line, index = self.at, self.lines.at(self.at), None
        match = _ASSIGN.match(self.source, start)
        if match:
            name, sign = match.groups()
            self.at = match.end()
        else:
            match = _INDEXED.match(self.source, start)
            if match is None:
                return None
            name, self.at = match.group(1), match.end()
            try:
                index = self._expression("]")
            except _Fault:
                self.at = start
                return None
            signed = _ASSIGN_SIGN.match(self.source, self.at)
            if signed is None:
                self.at = start
                return None
            sign, self.at = signed.group(), signed.end()
        append = sign == "+="
        if index is None and self.source.startswith("(", self.at):
            self.at += 1
            return Assignment(name, line, None, self._elements(), None, append)
        if self.source[self.at : self.at + 1] in ("", *_WORD_END) and not self.source.startswith(("<(", ">("), self.at):
            return Assignment(name, line, Word((), line, ""), None, index, append)
        return Assignment(name, line, self._word(), None, index, append)

    def _elements(self) -> tuple[ArrayElement, ...]:
        found: list[ArrayElement] = []
        while True:
            self._line_breaks()
            if self.source.startswith(")", self.at):
                self.at += 1
                return tuple(found)
            if self.at >= self.end or self.source[self.at] in ";&|":
                raise _Fault(self.at, "`)` of an array is missing")
            start, index = self.at, None
            if self.source.startswith("[", start):
                self.at += 1
                try:
                    index = self._expression("]")
                    if not self.source.startswith("=", self.at):
                        raise _Fault(self.at, "")
                    self.at += 1
                except _Fault:
                    self.at, index = start, None
            if index is None:
                found.extend(ArrayElement(w) for w in self._expanded_word())
            else:
                empty = self.source[self.at : self.at + 1] in ("", *_WORD_END)
                found.append(ArrayElement(Word((), 0, "") if empty else self._word(), index))

    def _words(self) -> list[Word]:
        found: list[Word] = []
        while True:
            self._blanks()
            char = self.source[self.at : self.at + 1]
            if char in ("", *"\n;&|)") or (char == "#" and self._word_start()):
                return found
            found.extend(self._expanded_word())

    def _expanded_word(self) -> list[Word]:
        """The next word after brace expansion (`{a,b}`, `{1..4}`)."""
        found = self._word()
        if any(isinstance(p, Literal) and not p.quoted and "{" in p.text for p in found.parts):
            return [word(parts, found.line) for parts in _braces(list(found.parts))]
        return [found]

    # -- blanks ---------------------------------------------------------------------------------------------------

    def _word_start(self) -> bool:
        return self.at == 0 or self.source[self.at - 1] in _WORD_END

    def _blanks(self) -> None:
        match = _BLANK.match(self.source, self.at)
        if match:
            self.at = match.end()

    def _line_breaks(self) -> None:
        """Past blanks, comments and line breaks; here-documents begin after a line break."""
        while True:
            self._blanks()
            char = self.source[self.at : self.at + 1]
            if char == "\n":
                self.at += 1
                if self.heredocs:
                    self._read_heredocs()
            elif char == "#" and self._word_start():
                match = _COMMENT.match(self.source, self.at)
                self.at = match.end() if match else self.end
            else:
                return

    def _count(self) -> None:
        self.pieces += 1
        if self.pieces > _MAX_PIECES:
            raise _Fault(self.at, f"the script has more than {_MAX_PIECES:,} words and commands")

    # -- words ----------------------------------------------------------------------------------------------------

    def _word(self, pattern: bool = False, regex: bool = False) -> Word:
        self._count()
        source, start = self.source, self.at
        parts: list[Part] = []
        brackets = 0
        plain = _UNQUOTED_REGEX if regex else _UNQUOTED
        if source.startswith("~", start) and source[start + 1 : start + 2] in ("", "/", *_WORD_END):
            parts.append(Parameter("HOME", self.lines.at(start), True))
            self.at += 1
        while self.at < self.end:
            match = plain.match(source, self.at)
            if match:
                parts.append(Literal(match.group(), False))
                self.at = match.end()
                continue
            char = source[self.at]
            if char in "<>" and source.startswith("(", self.at + 1) and not regex:
                parts.append(self._process())
            elif char == "[" and regex:
                parts.extend(self._regex_class())
            elif regex and char in ";&|<>()" and (brackets or char != ")"):
                brackets += (char == "(") - (char == ")")
                parts.append(Literal(char, False))
                self.at += 1
            elif char == "(" and self._extended_glob(parts):
                parts.append(Literal(self._bracketed(), False))
            elif char in _WORD_END:
                break
            else:
                self._count()
                self._quoted_or_dollar(char, parts, quoted=False)
        if self.at == start:
            raise _Fault(
                start, f"unexpected {source[start : start + 1]!r}" if start < self.end else "a word is missing"
            )
        return word(_merged(parts) if len(parts) > 1 else parts, self.lines.at(start))

    def _regex_class(self) -> list[Part]:
        match = _REGEX_CLASS.match(self.source, self.at)
        self.at = match.end() if match else self.at + 1
        return [Literal(match.group() if match else "[", False)]

    def _extended_glob(self, parts: list[Part]) -> bool:
        """Whether the bracket here belongs to a pattern such as `@(a|b)`."""
        last = parts[-1] if parts else None
        return isinstance(last, Literal) and not last.quoted and last.text[-1:] in tuple("@+?*!")

    def _bracketed(self) -> str:
        """A balanced `( … )` of a pattern or regular expression, without expansions."""
        depth, start = 0, self.at
        while self.at < self.end:
            char = self.source[self.at]
            if char in "\n'\"$`":
                break
            if char == "\\":
                self.at += 1
            depth += (char == "(") - (char == ")")
            self.at += 1
            if depth == 0:
                return self.source[start : self.at]
        raise _Fault(start, "a bracket of a pattern is not closed, or holds what is not read here")

    def _quoted_or_dollar(self, char: str, parts: list[Part], quoted: bool) -> None:
        source = self.source
        if char == "\\":
            following = source[self.at + 1 : self.at + 2]
            if following not in ("", "\n"):
                parts.append(Literal(following, True))
            self.at += 2
        elif char == "'":
            match = _IN_SINGLE.match(source, self.at + 1)
            stop = match.end() if match else self.end
            if stop >= self.end:
                raise _Fault(self.at, "a quote is not closed")
            parts.append(Literal(source[self.at + 1 : stop], True))
            self.at = stop + 1
        elif char == '"':
            start = self.at
            self.at += 1
            found = self._double('"')
            if self.at >= self.end:
                raise _Fault(start, "a quote is not closed")
            self.at += 1
            parts.extend(found or [Literal("", True)])
        elif char == "$":
            parts.append(self._dollar(quoted))
        else:
            parts.append(self._backquotes(quoted))

    def _double(self, stop: str | None) -> list[Part]:
        """The parts up to an unescaped `stop` (not consumed), all quoted; to the end where `stop` is None."""
        source = self.source
        parts: list[Part] = []
        plain = _IN_DOUBLE if stop else _IN_HEREDOC
        escapable = '$`"\\' if stop else "$`\\"
        while self.at < self.end:
            match = plain.match(source, self.at)
            if match:
                parts.append(Literal(match.group(), True))
                self.at = match.end()
                continue
            char = source[self.at]
            if char == stop:
                break
            if char == "\\":
                following = source[self.at + 1 : self.at + 2]
                if following != "\n":
                    parts.append(Literal(following if following and following in escapable else char + following, True))
                self.at += 2
            elif char == "$":
                parts.append(self._dollar(True))
            else:
                parts.append(self._backquotes(True))
        return _merged(parts)

    def _backquotes(self, quoted: bool) -> Part:
        start = self.at
        match = _IN_BACKQUOTES.match(self.source, start + 1)
        stop = match.end() if match else self.end
        if stop >= self.end:
            raise _Fault(start, "a backquote is not closed")
        text = re.sub(r'\\([$`\\"])' if quoted else r"\\([$`\\])", r"\1", self.source[start + 1 : stop])
        self.at = stop + 1
        line = self.lines.at(start)
        inner = _Parser(text, self.path, _Lines(text, line))
        inner.depth = self._deeper(start)
        return Substitution(inner.program(), line, quoted)

    def _process(self) -> Part:
        start = self.at
        self.at += 2
        return Process(self._inner_block(start), self.lines.at(start))

    def _inner_block(self, start: int) -> Block:
        depth = self.depth
        self.depth = self._deeper(start)
        outer, self.heredocs = self.heredocs, []
        body = self._block((")",))
        self.at += 1
        self.depth, self.heredocs = depth, outer
        return body

    def _deeper(self, offset: int) -> int:
        if self.depth >= _MAX_DEPTH:
            raise _Fault(offset, f"expansions are nested more than {_MAX_DEPTH} deep")
        return self.depth + 1

    def _dollar(self, quoted: bool) -> Part:
        self._count()
        source, start = self.source, self.at
        line = self.lines.at(start)
        following = source[start + 1 : start + 2]
        if following == "(":
            if source.startswith("((", start + 1):
                expression = self._try_arithmetic(start + 1)
                if expression is not None:
                    return Arithmetic(expression, line, quoted)
            self.at += 2
            return Substitution(self._inner_block(start), line, quoted)
        if following == "[":
            self.at += 2
            return Arithmetic(self._expression("]"), line, quoted)
        if following == "{":
            self.at += 2
            depth, self.depth = self.depth, self._deeper(start)
            parameter = self._parameter(line, quoted)
            self.depth = depth
            return parameter
        if following == "'" and not quoted:
            match = _IN_ANSI.match(source, start + 2)
            stop = match.end() if match else self.end
            if stop >= self.end:
                raise _Fault(start, "a quote is not closed")
            self.at = stop + 1
            return Literal(_ANSI_ESCAPE.sub(_ansi, source[start + 2 : stop]), True)
        if following == '"' and not quoted:
            self.at += 1
            return Literal("", True)
        match = _VARIABLE.match(source, start + 1)
        if match is None:
            self.at += 1
            return Literal("$", quoted)
        self.at = match.end()
        name = match.group()
        return Parameter(name, line, quoted, whole=name if name in ("@", "*") else "")

    def _parameter(self, line: int, quoted: bool) -> Part:
        """The inside of `${…}`, and past its `}`."""
        source, start, prefix = self.source, self.at, ""
        if source[start : start + 1] in ("#", "!") and source[start + 1 : start + 2] not in (
            "}",
            ":",
            "-",
            "+",
            "=",
            "%",
        ):
            prefix = source[start]
            self.at += 1
        match = _PARAMETER_NAME.match(source, self.at)
        if match is None:
            raise _Fault(start, "`${` without a name")
        self.at, name = match.end(), match.group()
        whole, index = name if name in ("@", "*") else "", None
        if source.startswith("[", self.at):
            self.at += 1
            index = self._expression("]")
            if index.constant in ("@", "*"):
                whole, index = index.constant or "", None
        if source.startswith("}", self.at):
            self.at += 1
            return Parameter(name, line, quoted, index, whole, prefix)
        found = _PARAMETER_OPERATOR.match(source, self.at)
        if found is None:
            raise _Fault(self.at, "an expansion that is not read here")
        operator, self.at = found.group(), found.end()
        second = None
        if operator == ":":
            argument = self._braced(quoted, ":}")
            if source.startswith(":", self.at):
                self.at += 1
                second = self._braced(quoted, "}")
        elif operator.startswith("/"):
            argument = self._braced(False, "/}")
            if source.startswith("/", self.at):
                self.at += 1
                second = self._braced(False, "}")
        else:
            argument = self._braced(quoted and operator[0] not in "#%^,", "}")
        if not source.startswith("}", self.at):
            raise _Fault(self.at, "`}` of an expansion is missing")
        self.at += 1
        return Parameter(name, line, quoted, index, whole, prefix, operator, argument, second)

    def _braced(self, quoted: bool, stops: str) -> Word:
        """An argument inside `${…}` up to one of `stops`, which is not consumed."""
        source, start = self.source, self.at
        parts: list[Part] = []
        plain = _IN_BRACES[stops]
        while self.at < self.end:
            match = plain.match(source, self.at)
            if match:
                parts.append(Literal(match.group(), quoted))
                self.at = match.end()
                continue
            char = source[self.at]
            if char in stops:
                break
            if char == "'" and quoted:
                parts.append(Literal(char, True))
                self.at += 1
            elif char == "\\" and quoted and source[self.at + 1 : self.at + 2] not in ("", *'$`"\\}\n'):
                parts.append(Literal(source[self.at : self.at + 2], True))
                self.at += 2
            else:
                self._quoted_or_dollar(char, parts, quoted)
        return word(_merged(parts), self.lines.at(start))

    def _expression(self, closer: str) -> Word:
        """Arithmetic text up to `closer` (`))`, `]` or `;`), which is consumed."""
        source, start, depth = self.source, self.at, 0
        parts: list[Part] = []
        plain = _IN_ARITHMETIC
        while self.at < self.end:
            self._count()
            match = plain.match(source, self.at)
            if match:
                parts.append(Literal(match.group(), True))
                self.at = match.end()
                continue
            char = source[self.at]
            if depth == 0 and source.startswith(closer, self.at):
                self.at += len(closer)
                return word(_merged(parts), self.lines.at(start))
            if char in "([":
                depth += 1
            elif char in ")]":
                depth -= 1
                if depth < 0:
                    break
            if char in "()[];":
                parts.append(Literal(char, True))
                self.at += 1
            elif char == '"':
                self.at += 1
                parts.extend(self._double('"'))
                self.at += 1
            else:
                self._quoted_or_dollar(char, parts, quoted=True)
        raise _Fault(start, f"{closer!r} is missing")

    # -- [[ … ]] --------------------------------------------------------------------------------------------------

    def _test_blanks(self) -> None:
        while True:
            self._blanks()
            if not self.source.startswith("\n", self.at):
                return
            self.at += 1

    def _or_test(self) -> Expression:
        left = self._and_test()
        while True:
            self._test_blanks()
            if not self.source.startswith("||", self.at):
                return left
            self.at += 2
            left = Junction("||", left, self._and_test())

    def _and_test(self) -> Expression:
        left = self._one_test()
        while True:
            self._test_blanks()
            if not self.source.startswith("&&", self.at):
                return left
            self.at += 2
            left = Junction("&&", left, self._one_test())

    def _one_test(self) -> Expression:
        self._test_blanks()
        self._count()
        start, source = self.at, self.source
        if source.startswith("!", start) and source[start + 1 : start + 2] in (" ", "\t", "\n", "("):
            self.at += 1
            return Negation(self._deep_test(self._one_test))
        if source.startswith("(", start):
            self.at += 1
            inner = self._deep_test(self._or_test)
            self._test_blanks()
            if not source.startswith(")", self.at):
                raise _Fault(self.at, "`)` of a condition is missing")
            self.at += 1
            return inner
        unary = _UNARY.match(source, start)
        if unary:
            self.at = unary.end()
            self._test_blanks()
            if not source.startswith(("]]", "&&", "||", ")"), self.at):
                return Comparison(unary.group(), self._word())
            self.at = start
        left = self._word()
        self._test_blanks()
        binary = _BINARY.match(source, self.at)
        if binary is None:
            return Comparison("", left)
        self.at = binary.end()
        self._test_blanks()
        return Comparison(binary.group(), left, self._word(regex=binary.group() == "=~"))

    def _deep_test(self, read: Callable[[], Expression]) -> Expression:
        depth, self.depth = self.depth, self._deeper(self.at)
        test = read()
        self.depth = depth
        return test


def _merged(parts: list[Part]) -> list[Part]:
    """Neighbouring literals of one kind as one."""
    merged: list[Part] = []
    for part in parts:
        last = merged[-1] if merged else None
        if isinstance(part, Literal) and isinstance(last, Literal) and part.quoted == last.quoted:
            merged[-1] = Literal(last.text + part.text, part.quoted)
        else:
            merged.append(part)
    return merged


def _ansi(match: re.Match[str]) -> str:
    hexadecimal, unicode, octal, char = match.groups()
    if hexadecimal or unicode:
        return chr(int(hexadecimal or unicode, 16))
    if octal:
        return chr(int(octal, 8))
    return _ESCAPES.get(char, char if char in "\\'\"?" else f"\\{char}")


class _Piece(msgspec.Struct, frozen=True):
    """One character of a word in brace expansion, or one part that is no plain unquoted text."""

    char: str
    part: Part | None = None


def _braces(parts: list[Part]) -> list[list[Part]]:
    """Brace expansion of a word; the word itself where its braces expand to nothing, or to too much."""
    pieces: list[_Piece] = []
    for part in parts:
        if isinstance(part, Literal) and not part.quoted:
            pieces.extend(_Piece(char) for char in part.text)
        else:
            pieces.append(_Piece("", part))
    expanded = _expand(pieces, 0)
    if expanded is None:
        return [parts]
    return [_merged([p.part if p.part is not None else Literal(p.char, False) for p in row]) for row in expanded]


def _expand(pieces: list[_Piece], depth: int) -> list[list[_Piece]] | None:
    if depth > 8 or len(pieces) > 2000:
        return None
    for start, piece in enumerate(pieces):
        if piece.char != "{":
            continue
        found = _alternatives(pieces, start)
        if found is None:
            continue
        choices, end = found
        rows: list[list[_Piece]] = []
        for choice in choices:
            tails = _expand(choice + pieces[end + 1 :], depth + 1)
            if tails is None or len(rows) + len(tails) > 1000:
                return None
            rows.extend(pieces[:start] + tail for tail in tails)
        return rows
    return [pieces]


def _alternatives(pieces: list[_Piece], start: int) -> tuple[list[list[_Piece]], int] | None:
    """The choices of the brace at `start` and where it ends; None if it is no brace expansion."""
    level, commas = 0, [start]
    for at in range(start, len(pieces)):
        char = pieces[at].char
        level += (char == "{") - (char == "}")
        if char == "," and level == 1:
            commas.append(at)
        if level == 0:
            if len(commas) > 1:
                bounds = [*commas, at]
                return [pieces[a + 1 : b] for a, b in pairwise(bounds)], at
            inner = "".join(p.char if p.part is None else "\0" for p in pieces[start + 1 : at])
            sequence = _sequence(inner)
            return None if sequence is None else ([[_Piece(c) for c in text] for text in sequence], at)
    return None


def _sequence(inner: str) -> list[str] | None:
    match = _BRACES.match(inner)
    if match is None:
        return None
    first, last, step = match.groups()
    if first.lstrip("-").isdigit() != last.lstrip("-").isdigit():
        return None
    digits = first.lstrip("-").isdigit()
    low, high = (int(first), int(last)) if digits else (ord(first), ord(last))
    stride = max(abs(int(step)) if step else 1, 1)
    count = abs(high - low) // stride + 1
    if count > 1000:
        return None
    width = max(len(first), len(last)) if digits and (first.startswith("0") or last.startswith("0")) else 0
    values = (low + (stride if high >= low else -stride) * i for i in range(count))
    return [str(value).zfill(width) if digits else chr(value) for value in values]
