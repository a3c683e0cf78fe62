"""The commands that a command line stands for: its own, those behind wrappers, and those in a shell's text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "cmd", "powershell", "pwsh"})
_TEXT_FLAGS = {
    "cmd": r"/[ck]",
    "powershell": r"-(?:c|command|e|ec|enc|encodedcommand)",
    "pwsh": r"-(?:c|command|e|ec|enc|encodedcommand)",
    "python": r"-[a-z]*c",
    "node": r"-e|--eval|-p|--print|-pe",
    "bun": r"-e|--eval|-p|--print",
    "deno": r"eval",
    "perl": r"-[a-z]*e",
    "ruby": r"-[a-z]*e",
    "php": r"-r",
}
_WRAPPERS = {"sudo": "-u -g -h -p -C", "doas": "-u -C", "env": "-u -C", "nice": "-n", "timeout": "-k -s"}
_WRAPPERS |= dict.fromkeys(("pkexec", "nohup", "time", "exec", "eval", "xargs", "setsid", "stdbuf"), "")
"""What starts the program that is named after it, with those of its flags that take a value."""
_STATEMENTS = re.compile(r"&&|\|\||[;&\n`()]")
_WORDS = re.compile(r"\"([^\"]*)\"|'([^']*)'|(\S+)")
_MOST = 200
_MOST_WORDS = 1000
_MOST_WORDS_READ = 3 * _MOST_WORDS


@dataclass(frozen=True, slots=True)
class Command:
    """One program with its arguments, and the one whose output it reads."""

    words: tuple[str, ...]
    fed_by: str = ""

    @property
    def name(self) -> str:
        """The program without folder, ending and version: `/usr/bin/python3.11` is `python`."""
        return program_name(self.words[0])


@dataclass(frozen=True, slots=True)
class GivenText:
    """What a shell or an interpreter is given to run, and the argument that says so."""

    flag: str
    text: str


def program_name(word: str) -> str:
    """The plain name of a program."""
    last = word[max(word.rfind("/"), word.rfind("\\")) + 1 :].lower()
    return re.sub(r"\.(?:exe|cmd|bat)$|(?<=python)[\d.]+$", "", last)


def commands(argv: Sequence[str]) -> tuple[Command, ...]:
    """Every command that `argv` would start, as far as can be told from it; the first is `argv` itself."""
    waiting, found, room = [Command(tuple(argv[:_MOST_WORDS]))], list[Command](), _MOST_WORDS_READ
    while waiting and room > 0:
        one = waiting.pop(0)
        room -= len(one.words)
        if one.words:
            found.append(one)
            waiting += _inside(one)
    return tuple(found)


def given_text(command: Command) -> GivenText | None:
    """The program text among the arguments of a shell or an interpreter."""
    flags = _TEXT_FLAGS.get(command.name, r"-[a-z]*c" if command.name in SHELLS else None)
    for place, word in enumerate(command.words[1:], 1):
        if flags and re.fullmatch(flags, word.lower()):
            return GivenText(word, " ".join(command.words[place + 1 :]))
        if not word.startswith("/" if command.name == "cmd" else "-"):
            break
    return None


def _inside(command: Command) -> Iterator[Command]:
    given = given_text(command) if command.name in SHELLS else None
    if given:
        yield from islice(_of_text(given.text), _MOST)
    if command.name in _WRAPPERS:
        yield Command(_unwrapped(command.words[1:], _WRAPPERS[command.name].split()), command.fed_by)


def _of_text(text: str) -> Iterator[Command]:
    for statement in _STATEMENTS.split(text):
        before = ""
        for stage in statement.split("|"):
            words = tuple("".join(found.groups("")) for found in islice(_WORDS.finditer(stage), _MOST_WORDS))
            if words:
                yield Command(words, before)
                before = program_name(words[0])


def _unwrapped(words: Sequence[str], with_value: Sequence[str]) -> tuple[str, ...]:
    """What follows the wrapper's own flags, numbers and settings of variables."""
    place = 0
    while place < len(words) and (words[place].startswith("-") or "=" in words[place] or words[place][:1].isdigit()):
        place += 2 if words[place] in with_value else 1
    return tuple(words[place:])
