"""Commands inside a command line (wrappers and shell texts included), and the packages that runners fetch."""

import re
from collections.abc import Iterator, Sequence, Set
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
WRAPPERS = {"sudo": "-u -g -h -p -C", "doas": "-u -C", "env": "-u -C", "nice": "-n", "timeout": "-k -s"}
WRAPPERS |= dict.fromkeys(("pkexec", "nohup", "time", "exec", "eval", "xargs", "setsid", "stdbuf"), "")
"""Programs that start the program named after them, with their flags that take a value."""
_STATEMENTS = re.compile(r"&&|\|\||[;&\n`()]")
_WORDS = re.compile(r"\"([^\"]*)\"|'([^']*)'|(\S+)")
_MOST = 200
_MOST_WORDS = 1000
_MOST_WORDS_READ = 3 * _MOST_WORDS


@dataclass(frozen=True, slots=True)
class LaunchCommand:
    """One program with its arguments, and the one whose output it reads."""

    words: tuple[str, ...]
    fed_by: str = ""

    @property
    def name(self) -> str:
        """The program without folder, ending and version: `/usr/bin/python3.11` is `python`."""
        return program_name(self.words[0])


@dataclass(frozen=True, slots=True)
class GivenText:
    """Program text given to a shell or an interpreter, and the flag before it."""

    flag: str
    text: str


def program_name(word: str) -> str:
    """Return the plain name of a program."""
    last = word[max(word.rfind("/"), word.rfind("\\")) + 1 :].lower()
    return re.sub(r"\.(?:exe|cmd|bat)$|(?<=python)[\d.]+$", "", last)


def commands(argv: Sequence[str]) -> tuple[LaunchCommand, ...]:
    """Return every command that `argv` would start, as far as can be told from it; the first is `argv` itself."""
    waiting, found, room = [LaunchCommand(tuple(argv[:_MOST_WORDS]))], list[LaunchCommand](), _MOST_WORDS_READ
    while waiting and room > 0:
        one = waiting.pop(0)
        room -= len(one.words)
        if one.words:
            found.append(one)
            waiting += _inside(one)
    return tuple(found)


def text_flags(name: str) -> str:
    """Return the flags, as a pattern, before the text that a shell or an interpreter runs."""
    return _TEXT_FLAGS.get(name, r"-[a-z]*c|-e|--eval|--exec|-r")


def given_text(command: LaunchCommand) -> GivenText | None:
    """Return the program text among the arguments of a shell or an interpreter."""
    flags = _TEXT_FLAGS.get(command.name, r"-[a-z]*c" if command.name in SHELLS else None)
    for place, word in enumerate(command.words[1:], 1):
        if flags and re.fullmatch(flags, word.lower()):
            return GivenText(word, " ".join(command.words[place + 1 :]))
        if not word.startswith("/" if command.name == "cmd" else "-"):
            break
    return None


def _inside(command: LaunchCommand) -> Iterator[LaunchCommand]:
    given = given_text(command) if command.name in SHELLS else None
    if given:
        yield from islice(_of_text(given.text), _MOST)
    if command.name in WRAPPERS:
        yield LaunchCommand(unwrapped(command.words[1:], WRAPPERS[command.name].split()), command.fed_by)


def _of_text(text: str) -> Iterator[LaunchCommand]:
    for statement in _STATEMENTS.split(text):
        before = ""
        for stage in statement.split("|"):
            words = tuple("".join(found.groups("")) for found in islice(_WORDS.finditer(stage), _MOST_WORDS))
            if words:
                yield LaunchCommand(words, before)
                before = program_name(words[0])


def unwrapped(words: Sequence[str], with_value: Sequence[str]) -> tuple[str, ...]:
    """Return the words after the wrapper's own flags, numbers and settings of variables."""
    place = 0
    while place < len(words) and (words[place].startswith("-") or "=" in words[place] or words[place][:1].isdigit()):
        place += 2 if words[place] in with_value else 1
    return tuple(words[place:])


_NODE = ("npx", "pnpx", "bunx")
_NODE_VERBS = {("npm", "exec"), ("npm", "x"), ("pnpm", "dlx"), ("pnpm", "exec"), ("yarn", "dlx"), ("bun", "x")}
_PYTHON_VERBS = {("uv", "tool", "run"), ("pipx", "run")}
_NODE_PACKAGE_FLAGS = {"-p", "--package"}
_PYTHON_PACKAGE_FLAGS = {"--from"}
_VALUE_FLAGS = {
    *_NODE_PACKAGE_FLAGS,
    *_PYTHON_PACKAGE_FLAGS,
    *("-c", "--call", "--python", "--with", "--index-url", "--index", "--default-index", "--registry", "-i"),
}
_CONTAINERS = ("docker", "podman", "nerdctl")
_EXACT = re.compile(r"(?:@|==)v?\d++(?:[-+.][\w.+-]*+|(?:a|b|rc)\d++)?$")
_COMMIT = re.compile(r"[@#][0-9a-f]{7,40}$")
_LOCAL = re.compile(r"\.{0,2}[\\/]|~|file:|[A-Za-z]:[\\/]")
_CONTAINER_FLAGS = re.compile(
    r"-[ehvwupl]|--(?:env|env-file|volume|mount|workdir|user|publish|name|network|net|entrypoint|label|add-host"
    r"|memory|cpus|platform|cap-add|cap-drop|security-opt|pull|pid|device|tmpfs|hostname|dns|gpus|restart)"
)


def fetched(command: LaunchCommand) -> Iterator[str]:
    """Yield the packages or images that this command fetches in the newest version, unpinned."""
    words = command.words
    if (rest := _after_runner(command)) is not None:
        yield from _unpinned_package(command, rest)
    elif command.name in _CONTAINERS and "run" in words[:3]:
        image = container_image(words[words.index("run") + 1 :])
        if image and _floating(image):
            yield image
    elif command.name == "deno":
        modules = (word for word in words[1:] if word.startswith(("npm:", "jsr:", "http")))
        yield from (module for module in modules if not _pinned(module, dots=2))


def fetches_package(command: LaunchCommand) -> bool:
    """Return True if a command runs a package or an image that comes from a registry."""
    return _after_runner(command) is not None or (command.name in _CONTAINERS and "run" in command.words[:3])


def _unpinned_package(command: LaunchCommand, rest: Sequence[str]) -> Iterator[str]:
    python = command.name in ("uvx", "uv", "pipx")
    package = _package(rest, _PYTHON_PACKAGE_FLAGS if python else _NODE_PACKAGE_FLAGS)
    # npm reads `@1.2` as the newest 1.2.x, so only a version with two dots is pinned there; `==1` of PyPI is exact.
    if package and not _pinned(package, dots=0 if python else 2):
        yield package


def container_image(words: Sequence[str]) -> str:
    """Return the image that `docker run` is given."""
    place = 0
    while place < len(words) and words[place].startswith("-"):
        place += 2 if _CONTAINER_FLAGS.fullmatch(words[place]) else 1
    return words[place] if place < len(words) else ""


def _after_runner(command: LaunchCommand) -> tuple[str, ...] | None:
    """Return the words after a package runner's own; None if the command is no package runner."""
    words = command.words
    lowered = tuple(word.lower() for word in (command.name, *words[1:3]))
    if command.name in (*_NODE, "uvx"):
        return words[1:]
    if lowered[:2] in _NODE_VERBS or lowered[:2] in _PYTHON_VERBS:
        return words[2:]
    return words[3:] if lowered in _PYTHON_VERBS else None


def _package(words: Sequence[str], package_flags: Set[str]) -> str:
    """Return the package: named by one of the flags, else the first word that belongs to no flag."""
    place, named = 0, ""
    while place < len(words) and words[place].startswith("-") and words[place] != "--":
        flag, _, value = words[place].partition("=")
        if flag in package_flags:
            named = value or "".join(words[place + 1 : place + 2])
        place += 2 if words[place] in _VALUE_FLAGS else 1
    return named or next((word for word in words[place:] if word != "--"), "")


def _pinned(package: str, dots: int) -> bool:
    """Return True if it is on this machine, at one commit, or at a version with at least so many dots in it."""
    if _LOCAL.match(package) or _COMMIT.search(package):
        return True
    version = _EXACT.search(package)
    return version is not None and version[0].count(".") >= dots


def _floating(image: str) -> bool:
    name = image.rpartition("/")[2]
    return "@sha256:" not in image and (":" not in name or name.endswith(":latest"))
