"""The parser of the command line: shared options, and one way to add a verb."""

import argparse
import sys
import textwrap
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from mcp_tef import InputError, RunField, did_you_mean
from mcp_tef.cli.examples import EXAMPLES
from mcp_tef.cli.standard_streams import write_result
from mcp_tef.cli.terminal import Terminal, coloured, styled_help

Command: TypeAlias = Callable[[argparse.Namespace, Terminal], Coroutine[Any, Any, int | None] | int | None]
"""Work of a verb; it returns the exit code, or None where all is done."""
DONE, FAILED, UNREACHED, CANNOT_TELL = 0, 1, 3, 4
"""Exit codes of verbs; 2 is bad usage or bad input, which `InputError` stands for."""
TAKES_ANYTHING = ("--arg",)


class HelpFormatter(argparse.HelpFormatter):
    """Fills paragraphs to the width of the screen; one with an indented line, such as an example, stays as it is."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        filler = textwrap.TextWrapper(width, indent, indent, break_on_hyphens=False, break_long_words=False)
        return "\n\n".join(one if "\n " in one else filler.fill(" ".join(one.split())) for one in text.split("\n\n"))


class Parser(argparse.ArgumentParser):
    """Says what is wrong as an InputError, so that every error looks the same; options are never abbreviated.

    One that `takes_project_file` fills what the command line leaves out from the project file.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options | {"allow_abbrev": False})
        self.takes_project_file = False
        self.is_listed = True

    def format_help(self) -> str:
        """Return the help page, with headings in bold where colour is shown; Python 3.14 does that itself."""
        text = super().format_help()
        return styled_help(text) if sys.version_info < (3, 14) and coloured(sys.stdout) else text

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write a page, and say where that fails, which argparse itself conceals."""
        write_result(file or sys.stderr, message)

    def error(self, message: str) -> NoReturn:
        """Raise an InputError in place of argparse's own exit."""
        self._refuse(message[:1].upper() + message[1:] + ".")

    def _refuse(self, message: str, hint: str = "") -> NoReturn:
        page = f"See {self.prog} --help."
        raise InputError(message, hint=f"{hint} {page}".lstrip(), code="bad_usage")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Name the nearest choice for an unknown one."""
        if action.choices is not None and value not in action.choices:
            known = [str(one) for one in action.choices if not _is_hidden(action, one)]
            what = action.option_strings[-1] if action.option_strings else action.metavar or action.dest
            self._refuse(
                f"{what} cannot be “{value}”.", did_you_mean(str(value), known, f"Select from {', '.join(known)}.")
            )

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as argparse does; a verb refuses what it does not know with the nearest option."""
        if self.takes_project_file:
            found, unknown = self._with_project_file(args)
        else:
            found, unknown = super().parse_known_args(args, namespace)
        if unknown and self._subparsers is None:
            self._refuse_unknown(unknown[0].partition("=")[0])
        return found, unknown

    def _refuse_unknown(self, text: str) -> NoReturn:
        known = [name for action in self._actions for name in action.option_strings]
        if text.startswith("-"):
            self._refuse(f"There is no option {text}.", did_you_mean(text, known, ""))
        self._refuse(f"“{text}” is one argument too many.")

    def _with_project_file(self, args: Any) -> tuple[argparse.Namespace, list[str]]:
        """Parse the command line, then fill in options of the project file, then defaults."""
        from mcp_tef.cli.project_file import find_project_file

        defaults = {action.dest: action.default for action in self._actions if action.default != argparse.SUPPRESS}
        for action in self._actions:
            action.default = argparse.SUPPRESS
            self._defaults.pop(action.dest, None)  # else a default would count as typed
        found, unknown = super().parse_known_args(args)
        values = vars(found)
        values["typed"], values["project"] = frozenset(values), None
        if project := find_project_file(Path.cwd()):
            self._take_from_file(values, *project)
        for name, default in defaults.items():
            values.setdefault(name, default)
        return found, unknown

    def _take_from_file(self, values: dict[str, Any], path: Path, table: Mapping[str, Any]) -> None:
        from mcp_tef.cli.project_file import TARGETS, ProjectFile, options_from_file

        own = {key: table[key] for key in table if key != TARGETS}
        found = options_from_file(path, own, self._actions, values, self.parsed)
        values.update(found)
        values["project"] = ProjectFile(path, frozenset(found))

    def parsed(self, texts: list[str]) -> argparse.Namespace:
        """Return what these options alone say."""
        return super().parse_known_args(texts)[0]


def _is_hidden(action: argparse.Action, choice: Any) -> bool:
    return isinstance(action.choices, Mapping) and not action.choices[choice].is_listed


Verbs: TypeAlias = "argparse._SubParsersAction[Parser]"  # noqa: SLF001 (argparse gives it no public name)


def shared_options() -> Parser:
    """Return the options of every verb; absent ones leave the namespace unchanged."""
    shared = Parser(add_help=False, argument_default=argparse.SUPPRESS)
    shared.add_argument("--workspace", type=Path, metavar="FILE", help="the workspace file (default: your data folder)")
    shared.add_argument(
        "--recover", action="store_true", help="start a new workspace with what can be read of a damaged one"
    )
    shared.add_argument("--json", action="store_true", help="one JSON document on stdout, nothing else")
    shared.add_argument("--quiet", action="store_true", help="print no results for people, only notes and errors")
    shared.add_argument("--verbose", action="store_true", help="log what is done to stderr")
    shared.add_argument("--debug", action="store_true", help="add the traceback to an error")
    return shared


def add_verb(
    verbs: Verbs, name: str, summary: str, command: Command, *, listed: bool = True, reads: bool = False, more: str = ""
) -> Parser:
    """Add a verb that does `command`; one that is not `listed` works but shows in no help.

    A verb that only `reads` takes a workspace that may not be written, and creates none. Its help ends with an example
    and with `more`.
    """
    shown: dict[str, Any] = {"help": summary} if listed else {}
    description = summary[:1].upper() + summary[1:] + "."
    parser = verbs.add_parser(
        name,
        description=description,
        parents=[shared_options()],
        formatter_class=HelpFormatter,
        **shown,
    )
    example = EXAMPLES.get(parser.prog.partition(" ")[2])
    parser.epilog = "\n\n".join(filter(None, (example and f"example:\n  {example}", more))) or None
    parser.is_listed = listed
    parser.set_defaults(command=command, reads=reads)
    return parser


def verbs_below(above: Parser, name: str = "") -> Iterator[tuple[str, Parser]]:
    """Yield every parser with the whole name of its verb, groups first; the topmost has none."""
    yield name, above
    for action in above._actions:  # noqa: SLF001 (argparse gives it no public name)
        for key, below in action.choices.items() if isinstance(action.choices, Mapping) else ():
            yield from verbs_below(below, f"{name} {key}".strip())


def add_list_option(parser: Parser, option: str, metavar: str, summary: str, **more: Any) -> None:
    """Add an option that may be given several times; without it the list is empty."""
    parser.add_argument(option, action="append", default=[], metavar=metavar, help=summary, **more)


def add_suite_options(parser: Parser) -> None:
    """Add the options that select groups of cases; without them a verb takes all."""
    add_list_option(parser, "--suite", "S", "only cases of this suite")
    add_list_option(parser, "--tag", "T", "only cases with this tag")


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
    description = summary[:1].upper() + summary[1:] + "."
    parser = verbs.add_parser(
        name, help=summary, description=description, parents=[shared_options()], formatter_class=HelpFormatter
    )
    return parser.add_subparsers(metavar="VERB", required=True, title="verbs")


def share(text: str) -> float:
    """Parse a number from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise InputError(f"{text or 'Nothing'} is not from 0 to 1.", hint="Write for example 0.9.")
    return value


def joined(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with `--arg -y` as `--arg=-y`, since what follows belongs to another program."""
    result: list[str] = []
    for argument in arguments:
        if result and result[-1] in TAKES_ANYTHING:
            result[-1] += f"={argument}"
        else:
            result.append(argument)
    return result
