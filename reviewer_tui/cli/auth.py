"""`auth login|status|logout`: the token for a host."""

from __future__ import annotations

import argparse
import getpass
import sys
from collections.abc import Sequence

from reviewer_tui.cli.exits import Exit
from reviewer_tui.cli.network import around, github
from reviewer_tui.cli.options import Parser
from reviewer_tui.cli.output import put, say
from reviewer_tui.model.errors import UsageError
from reviewer_tui.model.refs import DEFAULT_HOST, DEFAULT_REPOSITORY
from reviewer_tui.sources.github.auth import Token, environment_variables, find_token, forget_token, keep_token
from reviewer_tui.sources.github.hosts import Host, parse_host


def parser() -> argparse.ArgumentParser:
    made = Parser(prog="reviewer-tui auth", description="Keep, look at or forget the token for a host.")
    made.add_argument("what", choices=("login", "status", "logout"))
    made.add_argument("--host", metavar="HOST", default=DEFAULT_HOST, help="default: %(default)s")
    made.add_argument("--insecure-storage", action="store_true", help="agree to a keyring that keeps secrets readable")
    made.set_defaults(repo=DEFAULT_REPOSITORY)
    return made


def main(arguments: Sequence[str]) -> Exit:
    args = parser().parse_args(arguments)
    host = parse_host(args.host)
    if args.what == "login":
        keep_token(_asked_for(host), host, around(), allow_insecure=args.insecure_storage)
        say(f"The token for {host.name} is in the keyring.")
        return Exit.DONE
    if args.what == "logout":
        forgotten = forget_token(host, around())
        say(f"The token for {host.name} is forgotten." if forgotten else f"No token for {host.name} was kept.")
        return Exit.DONE
    return _status(args, host)


def _status(args: argparse.Namespace, host: Host) -> Exit:
    token = find_token(host, around())
    if token is None:
        names = ", ".join(environment_variables(host, around().environ))
        put([f"{host.name}: no token in {names}, in this program's keyring entry, or with gh."])
        return Exit.NO_DATA
    with github(args) as source:
        facts = source.viewer()
    scopes = facts.scopes or "those of a token that does not tell them"
    put([f"{host.name}: {facts.login}, token from {token.source}, scopes: {scopes}"])
    if facts.expires:
        put([f"The token expires on {facts.expires}."])
    return Exit.DONE


def _asked_for(host: Host) -> Token:
    """The token typed without echo, or the first line of standard input."""
    if sys.stdin.isatty():
        value = getpass.getpass(f"Token for {host.name} (it does not show): ")
    else:
        value = sys.stdin.readline()
    if not value.strip():
        raise UsageError("No token was given.", "Paste it at the prompt, or pipe it into the command.")
    return Token(value.strip(), "the keyring")
