"""Decides `[[ … ]]` and `[ … ]`: true, false, or not known."""

from __future__ import annotations

import re
from collections.abc import Callable

from reviewer_tui.launch import patterns
from reviewer_tui.launch.shell_state import ON, Array, unknown_array
from reviewer_tui.launch.shell_words import Argument
from reviewer_tui.launch.shell_world import World
from reviewer_tui.launch.syntax import Comparison, Expression, Junction, Negation, Simple, Word
from reviewer_tui.launch.text import Mixed, Text, Unknown, equal, is_empty

_FILE_TESTS = frozenset(f"-{letter}" for letter in "abcdefghkprsuwxGLNOS")
_NUMERIC: dict[str, Callable[[int, int], bool]] = {
    "-eq": lambda a, b: a == b,
    "-ne": lambda a, b: a != b,
    "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b,
    "-gt": lambda a, b: a > b,
    "-ge": lambda a, b: a >= b,
}

# What `[` takes for a number; anything else is an error.
_INTEGER = re.compile(r"\s*[-+]?[0-9]{1,18}\s*")


class Conditions(World):
    """Conditions over the variables and files of a script."""

    def holds(self, test: Expression) -> bool | None:
        match test:
            case Comparison():
                return self._compare(test)
            case Negation():
                found = self.holds(test.inner)
                return None if found is None else not found
            case Junction():
                left = self.holds(test.left)
                decides = test.operator == "||"
                if left is decides:
                    return left
                right = self.holds(test.right)
                if left is None:
                    return decides if right is decides else None
                return right

    def _compare(self, test: Comparison) -> bool | None:
        operator = test.operator
        if test.right is None:
            if operator == "-v":
                return self._is_set(self.text(test.left))
            return self._unary(operator, self.text(test.left))
        left = self.text(test.left)
        if operator in ("=", "==", "!="):
            pattern = self.pattern(test.right)
            found = equal(left, self.text(test.right)) if pattern is None else self.glob(pattern, left)
            return found if found is None or operator != "!=" else not found
        if operator == "=~":
            return self._regex(test.right, left)
        return self._binary(operator, left, self.text(test.right))

    def glob(self, pattern: patterns.Pieces, subject: Text) -> bool | None:
        if isinstance(subject, str):
            return patterns.matches(pattern, subject)
        plain = all(quoted or not patterns.ACTIVE.search(text) for text, quoted in pattern)
        return equal(subject, "".join(text for text, _ in pattern)) if plain else _glob_of_unknown(pattern, subject)

    def _regex(self, word: Word, subject: Text) -> bool | None:
        pattern = self.pattern(word)
        found = patterns.regex_groups(pattern, subject) if pattern is not None and isinstance(subject, str) else None
        if found is None or found is False:
            reason = Unknown("groups of a regular expression", word.line, self.path)
            self.assign("BASH_REMATCH", Array({}) if found is False else unknown_array(reason))
            return found
        assert isinstance(found, tuple)
        self.assign("BASH_REMATCH", Array(dict(enumerate(found))))
        return True

    def _is_set(self, name: Text) -> bool | None:
        if not isinstance(name, str):
            return None
        base = name.split("[")[0]
        value = self.lookup(base, self.line)
        if base != name or (isinstance(value, Array) and value.gap is not None):
            return None
        if isinstance(value, Mixed) and not value.nonempty:
            return None
        return value is not None

    def _unary(self, operator: str, text: Text) -> bool | None:
        if operator == "-z":
            return is_empty(text)
        if operator in ("-n", ""):
            empty = is_empty(text)
            return None if empty is None else not empty
        if operator == "-v":
            return self._is_set(text)
        if operator in _FILE_TESTS:
            return self._file_test(operator, text)
        return None

    def _file_test(self, operator: str, name: Text) -> bool | None:
        if not isinstance(name, str):
            return None
        if not name:
            return False
        if self.absolute(name) in self.state.files:
            there = self.state.files[self.absolute(name)] is not None
            return True if there and operator in ("-f", "-e", "-r") else None
        path = self.repository_path(name)
        if path is None:
            return None
        if operator in ("-f", "-e", "-r") and self.tree.blob(path) is not None:
            return True
        if operator in ("-d", "-e") and self.tree.list(path):
            return True
        return None

    def _binary(self, operator: str, left: Text, right: Text) -> bool | None:
        if operator in ("=", "==", "!="):
            found = equal(left, right)
            return found if found is None or operator != "!=" else not found
        if operator in ("<", ">"):
            if not (isinstance(left, str) and isinstance(right, str)):
                return None
            return left < right if operator == "<" else left > right
        compare = _NUMERIC.get(operator)
        if compare is None:
            return None
        one, other = self._integer(left), self._integer(right)
        return None if one is None or other is None else compare(one, other)

    def _integer(self, text: Text) -> int | None:
        if isinstance(text, str) and not text.strip():
            return 0
        value = self.number(text, self.line)
        return None if isinstance(value, Unknown) else value

    def test(self, arguments: list[Argument], command: Simple) -> int:
        """`[ … ]`."""
        self.line = command.line
        words = [argument.text for argument in arguments]
        if words[0] == "[" and words[-1] == "]":
            words.pop()
        words.pop(0)
        self.state.status = None if any(a.open for a in arguments) else self._test_words(words)
        return ON

    def _test_words(self, words: list[Text]) -> bool | None:
        for separator, decides in (("-o", True), ("-a", False)):
            if separator in words[1:-1] and len(words) > 3:
                at = words.index(separator, 1)
                left, right = self._test_words(words[:at]), self._test_words(words[at + 1 :])
                if decides in (left, right):
                    return decides
                return None if None in (left, right) else not decides
        if not words:
            return False
        if words[0] == "!" and len(words) > 1:
            found = self._test_words(words[1:])
            return None if found is None else not found
        if words[0] == "(" and words[-1] == ")" and len(words) > 2:
            return self._test_words(words[1:-1])
        if len(words) == 1:
            return self._unary("-n", words[0])
        if len(words) == 2 and isinstance(words[0], str):
            # A first word that is no operator is an error, and so a failure.
            return self._unary(words[0], words[1]) if words[0].startswith("-") else False
        if len(words) == 3 and isinstance(words[1], str):
            if words[1] in _NUMERIC:
                return _compared(words[1], words[0], words[2])
            return self._binary(words[1], words[0], words[2])
        return None


def _compared(operator: str, left: Text, right: Text) -> bool | None:
    """Numbers as `[` reads them: decimal, and anything else is an error."""
    if any(isinstance(text, str) and not _INTEGER.fullmatch(text) for text in (left, right)):
        return False
    if not (isinstance(left, str) and isinstance(right, str)):
        return None
    return _NUMERIC[operator](int(left), int(right))


def _glob_of_unknown(pattern: patterns.Pieces, subject: Mixed) -> bool | None:
    """`text*` or `*text` against a text whose start or end is known."""
    if len(pattern) == 1 and not pattern[0][1]:
        text, first, last = pattern[0][0], subject.parts[0], subject.parts[-1]
        bare = text.strip("*")
        if patterns.ACTIVE.search(bare):
            return None
        if text.startswith("*") and text.endswith("*"):
            return True if any(isinstance(p, str) and bare in p for p in subject.parts) else None
        if text.endswith("*") and isinstance(first, str):
            return True if first.startswith(bare) else (None if bare.startswith(first) else False)
        if text.startswith("*") and isinstance(last, str):
            return True if last.endswith(bare) else (None if bare.endswith(last) else False)
    return None
