"""Where a token is found, in which order, and that it never shows."""

from __future__ import annotations

import base64
import pickle
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from reviewer_tui.model.errors import UsageError
from reviewer_tui.sources.github import auth
from reviewer_tui.sources.github.auth import (
    KeyringRefusedError,
    Surroundings,
    Token,
    default_host,
    find_token,
    forget_token,
    is_insecure,
    keep_token,
)
from reviewer_tui.sources.github.hosts import Host, parse_host

GITHUB, TENANT, ENTERPRISE = parse_host("github.com"), parse_host("acme.ghe.com"), parse_host("git.acme.example")
SECRET = "ghp_" + "s3cret" * 6


class Ring:
    """A keyring in memory."""

    priority = 5.0

    def __init__(self, **entries: str) -> None:
        self.kept = {tuple(name.split("|")): value for name, value in entries.items()}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


class PlainRing(Ring):
    priority = 0.5


class AlternativeRing(Ring):
    pass


AlternativeRing.__module__ = "keyrings.alt.file"


class BrokenRing(Ring):
    def get_password(self, service: str, username: str) -> str | None:
        raise RuntimeError("no D-Bus")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise RuntimeError("no D-Bus")


class FailRing(Ring):
    priority = 0


FailRing.__module__ = "keyring.backends.fail"


def around(
    folder: Path,
    environ: Mapping[str, str] | None = None,
    gh: Callable[[tuple[str, ...]], str | None] = lambda _: None,
    ring: Ring | None = None,
) -> Surroundings:
    facts = {"GH_CONFIG_DIR": str(folder / "gh"), **(environ or {})}
    return Surroundings(environ=facts, config=folder / "config", gh=gh, keyring=lambda: ring or FailRing())


def hosts_file(folder: Path, text: str) -> None:
    (folder / "gh").mkdir(exist_ok=True)
    (folder / "gh" / "hosts.yml").write_text(text)


def found(host: Host, where: Surroundings) -> tuple[str, str] | None:
    token = find_token(host, where)
    return (token.value, token.source) if token else None


@pytest.mark.parametrize(
    ("host", "environ", "expected"),
    [
        (GITHUB, {"GH_TOKEN": "ghp_first1", "GITHUB_TOKEN": "ghp_second"}, "GH_TOKEN"),
        (GITHUB, {"GITHUB_TOKEN": "ghp_second", "GH_ENTERPRISE_TOKEN": "ghp_other1"}, "GITHUB_TOKEN"),
        (TENANT, {"GH_TOKEN": "ghp_first1"}, "GH_TOKEN"),
        (ENTERPRISE, {"GH_TOKEN": "ghp_first1", "GITHUB_TOKEN": "ghp_second"}, None),
        (ENTERPRISE, {"GH_ENTERPRISE_TOKEN": "ghp_first1", "GITHUB_ENTERPRISE_TOKEN": "x" * 9}, "GH_ENTERPRISE_TOKEN"),
        (ENTERPRISE, {"GITHUB_ENTERPRISE_TOKEN": "ghp_first1"}, "GITHUB_ENTERPRISE_TOKEN"),
        (ENTERPRISE, {"GITHUB_TOKEN": "ghp_second", "CODESPACES": "true"}, "GITHUB_TOKEN"),
        (GITHUB, {"GH_TOKEN": "   "}, None),
    ],
)
def test_the_environment_as_gh_reads_it(
    tmp_path: Path, host: Host, environ: dict[str, str], expected: str | None
) -> None:
    token = find_token(host, around(tmp_path, environ))
    assert (token.source if token else None) == (f"the environment variable {expected}" if expected else None)


def test_the_order_of_places(tmp_path: Path) -> None:
    asked: list[tuple[str, ...]] = []
    hosts_file(tmp_path, "github.com:\n  user: ada\n  oauth_token: gho_fromfile\n")

    def gh(arguments: tuple[str, ...]) -> str | None:
        asked.append(arguments)
        return "gho_fromgh\n"

    ring = Ring(**{"gh:github.com|": "gho_fromring"})
    where = around(tmp_path, {"GH_TOKEN": "ghp_environment"}, gh, ring)
    given = find_token(GITHUB, where, given="ghp_given\n")
    assert given is not None
    assert given.value == "ghp_given"
    assert found(GITHUB, where) == ("ghp_environment", "the environment variable GH_TOKEN")
    assert asked == []
    assert found(GITHUB, around(tmp_path, None, gh, ring)) == ("gho_fromfile", "gh's hosts.yml")
    hosts_file(tmp_path, "github.com:\n  user: ada\n")
    assert found(GITHUB, around(tmp_path, None, gh, ring)) == ("gho_fromgh", "gh auth token")
    assert asked == [("auth", "token", "--hostname", "github.com")]
    assert found(GITHUB, around(tmp_path, None, lambda _: None, ring)) == ("gho_fromring", "gh's keyring entry")
    assert found(GITHUB, around(tmp_path)) is None


def test_what_was_stored_here_goes_before_gh(tmp_path: Path) -> None:
    ring = Ring()
    where = around(tmp_path, None, lambda _: "gho_fromgh", ring)
    keep_token(Token(SECRET, "a test"), GITHUB, where)
    assert found(GITHUB, where) == (SECRET, "the keyring (auth login)")
    assert found(ENTERPRISE, where) == ("gho_fromgh", "gh auth token")
    assert forget_token(GITHUB, where)
    assert not forget_token(GITHUB, where)
    assert found(GITHUB, where) == ("gho_fromgh", "gh auth token")
    assert ring.kept == {}


def test_the_token_is_not_in_the_list_of_logins(tmp_path: Path) -> None:
    where = around(tmp_path, ring=Ring())
    keep_token(Token(SECRET, "a test"), GITHUB, where)
    assert (tmp_path / "config" / "logins.json").read_text() == '["github.com"]'


@pytest.mark.parametrize(
    "kept",
    [
        "go-keyring-base64:" + base64.b64encode(SECRET.encode()).decode(),
        "go-keyring-encoded:" + SECRET.encode().hex(),
        SECRET,
    ],
)
def test_what_gh_keeps_on_a_mac_is_decoded(tmp_path: Path, kept: str) -> None:
    ring = Ring(**{"gh:github.com|": kept})
    assert found(GITHUB, around(tmp_path, ring=ring)) == (SECRET, "gh's keyring entry")


@pytest.mark.parametrize(
    "text", ["", "[", "- a\n", "github.com: 5\n", "github.com:\n  oauth_token: 5\n", "a: &a [*a]\n"]
)
def test_a_hosts_file_of_any_kind_is_survived(tmp_path: Path, text: str) -> None:
    hosts_file(tmp_path, text)
    assert found(GITHUB, around(tmp_path)) is None


def test_the_default_host(tmp_path: Path) -> None:
    environ = {"GH_CONFIG_DIR": str(tmp_path / "gh")}
    assert default_host(environ) == "github.com"
    hosts_file(tmp_path, "git.acme.example:\n  oauth_token: x\n")
    assert default_host(environ) == "git.acme.example"
    hosts_file(tmp_path, "git.acme.example: {}\ngithub.com: {}\n")
    assert default_host(environ) == "github.com"
    assert default_host({**environ, "GH_HOST": "other.example"}) == "other.example"


def test_a_machine_without_keyring_works(tmp_path: Path) -> None:
    assert found(GITHUB, around(tmp_path, ring=BrokenRing())) is None
    for ring in (FailRing(), BrokenRing()):
        with pytest.raises(KeyringRefusedError) as caught:
            keep_token(Token(SECRET, "a test"), GITHUB, around(tmp_path, ring=ring))
        assert caught.value.remedy


def test_a_keyring_that_keeps_the_token_readable_needs_consent(tmp_path: Path) -> None:
    for ring in (PlainRing(), AlternativeRing()):
        assert is_insecure(ring)
        where = around(tmp_path, ring=ring)
        with pytest.raises(KeyringRefusedError, match="readable on disk"):
            keep_token(Token(SECRET, "a test"), GITHUB, where)
        assert ring.kept == {}
        keep_token(Token(SECRET, "a test"), GITHUB, where, allow_insecure=True)
        assert SECRET in ring.kept.values()
    assert not is_insecure(Ring())


def test_a_keyring_that_waits_for_somebody_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "PATIENCE", 0.2)
    release = threading.Event()

    class Locked(Ring):
        def get_password(self, service: str, username: str) -> str | None:
            release.wait(10)
            return "gho_toolate"

    began = time.monotonic()
    assert found(GITHUB, around(tmp_path, ring=Locked())) is None
    assert time.monotonic() - began < 2
    release.set()


def test_gh_is_run_without_a_shell_and_not_for_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "PATIENCE", 0.3)
    program = tmp_path / "gh"
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    ask = auth.surroundings(tmp_path).gh
    assert ask(("auth", "token")) is None
    for script, answer in (
        ('echo "gho_$1-$2-$4"', "gho_auth-token-a;b\n"),
        ("exit 1", None),
        ("exec sleep 5", None),
        ("printf '\\377'", None),
    ):
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        assert ask(("auth", "token", "--hostname", "a;b")) == answer


def test_a_token_does_not_show() -> None:
    token = Token(SECRET, "a test")
    assert SECRET not in f"{token!r} {token} {[token]} {vars(type(token))}"
    assert SECRET not in token.fingerprint
    assert Token(SECRET, "elsewhere").fingerprint == token.fingerprint != Token(SECRET + "x", "a test").fingerprint
    with pytest.raises(TypeError):
        pickle.dumps(token)


@pytest.mark.parametrize("value", ["", "short", "with blank inside", "line\nfeed-inside", "ümlaut-ümlaut", "x" * 2000])
def test_what_cannot_be_a_token_is_refused_without_showing_it(value: str) -> None:
    with pytest.raises(UsageError) as caught:
        Token(value, "a test")
    assert value == "" or value not in str(caught.value)
