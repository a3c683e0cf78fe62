"""The parser of the command line: shared options, and one way to add a verb."""

import argparse
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from mcp_tef import InputError, RunField
from mcp_tef.cli.terminal import Terminal

Command: TypeAlias = Callable[[argparse.Namespace, Terminal], Coroutine[Any, Any, int] | int]
TAKES_ANYTHING = ("--arg",)


class Parser(argparse.ArgumentParser):
    """Says what is wrong as an InputError, so that every error looks the same."""

    def error(self, message: str) -> NoReturn:
        """Raise an InputError in place of argparse's own exit."""
        raise InputError(message[:1].upper() + message[1:] + ".", hint=f"See {self.prog} --help.", code="bad_usage")


Verbs: TypeAlias = "argparse._SubParsersAction[Parser]"  # noqa: SLF001 (argparse gives it no public name)


def shared_options() -> Parser:
    """Return the options of every verb; absent ones leave the namespace unchanged."""
    shared = Parser(add_help=False, argument_default=argparse.SUPPRESS)
    shared.add_argument("--workspace", type=Path, metavar="FILE", help="the workspace file (default: your data folder)")
    shared.add_argument("--recover", action="store_true", help="set a damaged workspace aside and start a new one")
    shared.add_argument("--json", action="store_true", help="one JSON document on stdout, nothing else")
    shared.add_argument("--debug", action="store_true", help="add the traceback to an error")
    return shared


def add_verb(
    verbs: Verbs, name: str, summary: str, command: Command, *, listed: bool = True, reads: bool = False
) -> Parser:
    """Add a verb that does `command`; one that is not `listed` works but shows in no help.

    A verb that only `reads` takes a workspace that may not be written, and creates none.
    """
    shown: dict[str, Any] = {"help": summary} if listed else {}
    description = summary[:1].upper() + summary[1:] + "."
    parser = verbs.add_parser(name, description=description, parents=[shared_options()], **shown)
    parser.set_defaults(command=command, reads=reads)
    return parser


def add_run_fields(parser: Parser, *fields: RunField[Any]) -> None:
    """Add an option for each number, with its default if it has one."""
    for field in fields:
        parser.add_argument(
            f"--{field.name.replace('_', '-')}",
            type=field.type,
            default=field.default,
            metavar=field.metavar,
            help=f"{field.help} (default: {field.default_text})" if field.default_text else field.help,
        )


def add_group(verbs: Verbs, name: str, summary: str) -> Verbs:
    """Add a verb that has verbs below it."""
    parser = verbs.add_parser(name, help=summary, description=summary[:1].upper() + summary[1:] + ".")
    return parser.add_subparsers(metavar="VERB", required=True, title="verbs")


def joined(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with `--arg -y` as `--arg=-y`, since what follows belongs to another program."""
    result: list[str] = []
    for argument in arguments:
        if result and result[-1] in TAKES_ANYTHING:
            result[-1] += f"={argument}"
        else:
            result.append(argument)
    return result
