"""Finding a token, as the `gh` tool does, and keeping one in the system's keyring.

Order: the environment (which variables count depends on the host, as in cli/go-gh), what `auth login` of this
program stored, `gh`'s hosts.yml, `gh auth token`, and the keyring entry of `gh`. Every look into a keyring runs in a
thread with a limit of three seconds, because a locked keyring may wait for a person.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec

from reviewer_tui.model.errors import DataError, UsageError
from reviewer_tui.sources.github.errors import GitHubError
from reviewer_tui.sources.github.hosts import Host

T = TypeVar("T")

PATIENCE = 3.0
"""Seconds that `gh` or a keyring get to answer."""

# Any printable ASCII without blanks: a token goes into a header line.
_TOKEN = re.compile(r"[\x21-\x7e]{8,1024}\Z")
_LARGEST_HOSTS_FILE = 1 << 20


class Token:
    """A token and where it came from. Its value shows in no representation, and it does not pickle."""

    __slots__ = ("_value", "source")

    def __init__(self, value: str, source: str) -> None:
        if not _TOKEN.match(value):
            raise UsageError(
                f"The token from {source} holds blanks or other characters that no token has.",
                "Copy it again, without quotes and line ends.",
            )
        self._value = value
        self.source = source

    @property
    def value(self) -> str:
        """The secret itself: for the request's header only."""
        return self._value

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits that tell tokens apart and lead back to none."""
        return hashlib.sha256(b"reviewer-tui token\0" + self._value.encode()).hexdigest()[:16]

    def __repr__(self) -> str:
        return f"<token from {self.source}>"

    def __reduce__(self) -> str:
        raise TypeError("a token is never written down")


class KeyringRefusedError(GitHubError):
    """The keyring cannot be used, or would keep the token readable for everybody."""


class Keyring(Protocol):
    """What is used of a keyring back end."""

    @property
    def priority(self) -> Any: ...

    def get_password(self, service: str, username: str) -> str | None: ...

    def set_password(self, service: str, username: str, password: str) -> None: ...

    def delete_password(self, service: str, username: str) -> None: ...


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """Where tokens are looked for: the environment, this program's configuration folder, how to run `gh` (its
    arguments to its output; None where it fails) and how to get the keyring."""

    environ: Mapping[str, str]
    config: Path
    gh: Callable[[tuple[str, ...]], str | None]
    keyring: Callable[[], Keyring]


def surroundings(config: Path) -> Surroundings:
    """This process's own; `config` is this program's configuration folder."""
    return Surroundings(environ=os.environ, config=config, gh=_run_gh, keyring=_system_keyring)


def find_token(host: Host, around: Surroundings, *, given: str | None = None) -> Token | None:
    """The token for a host, or None where there is none. `given` (an option) goes before everything else."""
    if given:
        return Token(given.strip(), "the command line")
    for look in (_from_environment, _from_own_keyring, _from_hosts_file, _from_gh, _from_keyring_of_gh):
        if found := look(host, around):
            return found
    return None


def default_host(environ: Mapping[str, str]) -> str:
    """`GH_HOST`, else the only host of `gh`'s hosts.yml, else github.com."""
    if environ.get("GH_HOST"):
        return environ["GH_HOST"]
    hosts = [name for name in _hosts_file(environ) if isinstance(name, str)]
    return hosts[0] if len(hosts) == 1 else "github.com"


# --- where tokens may be -------------------------------------------------------------------------------------------


def environment_variables(host: Host, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The variables that may hold a token for this host, in order."""
    if host.kind in ("github.com", "tenant"):
        return ("GH_TOKEN", "GITHUB_TOKEN")
    names = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
    return (*names, "GITHUB_TOKEN") if environ.get("CODESPACES") == "true" else names


def _from_environment(host: Host, around: Surroundings) -> Token | None:
    for name in environment_variables(host, around.environ):
        if value := around.environ.get(name, "").strip():
            return Token(value, f"the environment variable {name}")
    return None


def _from_own_keyring(host: Host, around: Surroundings) -> Token | None:
    if host.name not in _remembered(around.config):
        return None
    value = _ask_keyring(around, lambda keyring: keyring.get_password(_own_service(host), host.name))
    return Token(value, "the keyring (auth login)") if value else None


def _from_hosts_file(host: Host, around: Surroundings) -> Token | None:
    entry = _hosts_file(around.environ).get(host.name)
    value = entry.get("oauth_token") if isinstance(entry, dict) else None
    return Token(value, "gh's hosts.yml") if isinstance(value, str) and value else None


def _from_gh(host: Host, around: Surroundings) -> Token | None:
    value = (around.gh(("auth", "token", "--hostname", host.name)) or "").strip()
    return Token(value, "gh auth token") if value else None


def _from_keyring_of_gh(host: Host, around: Surroundings) -> Token | None:
    value = _ask_keyring(around, lambda keyring: keyring.get_password(f"gh:{host.name}", ""))
    return Token(_as_gh_stored(value), "gh's keyring entry") if value else None


def _as_gh_stored(value: str) -> str:
    """gh's library for macOS encodes what it stores (zalando/go-keyring); elsewhere the value is plain."""
    for prefix, decode in (("go-keyring-base64:", base64.b64decode), ("go-keyring-encoded:", bytes.fromhex)):
        if value.startswith(prefix):
            try:
                return decode(value.removeprefix(prefix)).decode()
            except ValueError:
                return value
    return value


def _hosts_file(environ: Mapping[str, str]) -> dict[Any, Any]:
    """gh's hosts.yml as a mapping; empty where there is none or it does not parse."""
    import yaml

    path = gh_config_folder(environ) / "hosts.yml"
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_HOSTS_FILE)
        loaded = yaml.load(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (OSError, yaml.YAMLError, ValueError, RecursionError):
        return {}
    return loaded if isinstance(loaded, dict) else {}


def gh_config_folder(environ: Mapping[str, str]) -> Path:
    """Where `gh` keeps its configuration."""
    if environ.get("GH_CONFIG_DIR"):
        return Path(environ["GH_CONFIG_DIR"])
    if environ.get("XDG_CONFIG_HOME"):
        return Path(environ["XDG_CONFIG_HOME"]) / "gh"
    if environ.get("AppData"):
        return Path(environ["AppData"]) / "GitHub CLI"
    home = environ.get("HOME") or environ.get("USERPROFILE") or "/"
    return Path(home) / ".config" / "gh"


def _run_gh(arguments: tuple[str, ...]) -> str | None:
    program = shutil.which("gh")
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
            text=True,
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return done.stdout if done.returncode == 0 else None


# --- the keyring ---------------------------------------------------------------------------------------------------


def keep_token(token: Token, host: Host, around: Surroundings, *, allow_insecure: bool = False) -> None:
    """Put a token into the keyring for later calls. Raises KeyringRefusedError where the keyring does not work, or
    would not protect the token and the user did not consent to that."""
    keyring = _in_time(around.keyring)
    if keyring is None or not _works(keyring):
        raise KeyringRefusedError(
            "This machine has no keyring that could keep the token.",
            f"Set {environment_variables(host, around.environ)[0]} instead, or log in with gh.",
        )
    if not allow_insecure and is_insecure(keyring):
        raise KeyringRefusedError(
            f"The keyring here ({type(keyring).__module__}) would keep the token readable on disk.",
            "Agree to that with --insecure-storage, or set the token in the environment instead.",
        )
    if not _in_time(lambda: _stored(keyring, host, token)):
        raise KeyringRefusedError("The keyring did not take the token.", "Unlock it and try again.")
    _remember(around.config, _remembered(around.config) | {host.name})


def forget_token(host: Host, around: Surroundings) -> bool:
    """Remove what `keep_token` stored; whether there was something."""
    if host.name not in _remembered(around.config):
        return False
    _ask_keyring(around, lambda keyring: keyring.delete_password(_own_service(host), host.name))
    _remember(around.config, _remembered(around.config) - {host.name})
    return True


def is_insecure(keyring: Keyring) -> bool:
    """Whether a back end keeps secrets readable: the alternative back ends, and all of a priority below 1."""
    module = type(keyring).__module__
    return module.startswith("keyrings.alt") or not _priority(keyring) >= 1


def _works(keyring: Keyring) -> bool:
    module = type(keyring).__module__
    return not module.startswith(("keyring.backends.fail", "keyring.backends.null")) and _priority(keyring) > 0


def _priority(keyring: Keyring) -> float:
    try:
        return float(keyring.priority)
    except Exception:  # a back end computes this in its own ways
        return 0.0


def _stored(keyring: Keyring, host: Host, token: Token) -> bool:
    keyring.set_password(_own_service(host), host.name, token.value)
    return keyring.get_password(_own_service(host), host.name) == token.value


def _ask_keyring(around: Surroundings, question: Callable[[Keyring], T]) -> T | None:
    return _in_time(lambda: question(around.keyring()))


def _in_time(question: Callable[[], T]) -> T | None:
    """The answer of a keyring, None where it fails (each back end has its own errors) or takes longer than three
    seconds. The thread of a keyring that never answers is left behind; it does not keep the program alive."""
    answers: list[T] = []

    def ask() -> None:
        try:
            answers.append(question())
        except Exception:
            return

    thread = threading.Thread(target=ask, name="keyring", daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return answers[0] if answers else None


def _system_keyring() -> Keyring:
    import keyring

    backend: Keyring = keyring.get_keyring()
    return backend


def _own_service(host: Host) -> str:
    return f"reviewer-tui:{host.name}"


def _remembered(config: Path) -> frozenset[str]:
    """The hosts for which this program stored a token: without this list every start would ask the keyring."""
    try:
        return frozenset(msgspec.json.decode((config / "logins.json").read_bytes(), type=list[str]))
    except (OSError, msgspec.MsgspecError):
        return frozenset()


def _remember(config: Path, hosts: frozenset[str]) -> None:
    try:
        config.mkdir(parents=True, exist_ok=True)
        (config / "logins.json").write_bytes(msgspec.json.encode(sorted(hosts)))
    except OSError as fault:
        raise DataError(f"The folder {config} cannot be written: {fault.strerror or fault}.") from None
