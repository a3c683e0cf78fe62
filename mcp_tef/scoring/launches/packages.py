"""Package runners: which package a command fetches before it starts it, and whether that is always the same one."""

import re
from collections.abc import Iterator, Sequence

from mcp_tef.scoring.launches.commands import Command

_NODE = ("npx", "pnpx", "bunx")
_NODE_VERBS = {("npm", "exec"), ("npm", "x"), ("pnpm", "dlx"), ("pnpm", "exec"), ("yarn", "dlx"), ("bun", "x")}
_PYTHON_VERBS = {("uv", "tool", "run"), ("pipx", "run")}
_NAMES_IT = {"-p", "--package", "--from"}
_VALUE_FLAGS = {"-c", "--call", "--python", "--with", "--index-url", "--index", "--default-index", "--registry", "-i"}
_EXACT = re.compile(r"(?:@|==)v?\d+(?:\.\d+)*(?:[-+.][\w.+-]*|(?:a|b|rc)\d+)?$")
_COMMIT = re.compile(r"[@#][0-9a-f]{7,40}$")
_LOCAL = re.compile(r"\.{0,2}[\\/]|~|file:|[A-Za-z]:[\\/]")
_CONTAINER_FLAGS = re.compile(
    r"-[ehvwupl]|--(?:env|env-file|volume|mount|workdir|user|publish|name|network|net|entrypoint|label|add-host"
    r"|memory|cpus|platform|cap-add|cap-drop|security-opt|pull|pid|device|tmpfs|hostname|dns|gpus|restart)"
)


def fetched(command: Command) -> Iterator[str]:
    """A package or an image that this command fetches whichever version is newest."""
    words = command.words
    if (rest := _after_runner(command)) is not None:
        python = command.name in ("uvx", "uv", "pipx")
        package = _package(rest, "--from" if python else "--package")
        if package and not _pinned(package, dots=0 if python else 2):
            yield package
    elif command.name in ("docker", "podman") and "run" in words[:3]:
        image = container_image(words[words.index("run") + 1 :])
        if image and _floating(image):
            yield image
    elif command.name == "deno":
        yield from (
            word for word in words[1:] if word.startswith(("npm:", "jsr:", "http")) and not _pinned(word, dots=2)
        )


def container_image(words: Sequence[str]) -> str:
    """The image that `docker run` is given."""
    place = 0
    while place < len(words) and words[place].startswith("-"):
        place += 2 if _CONTAINER_FLAGS.fullmatch(words[place]) else 1
    return words[place] if place < len(words) else ""


def _after_runner(command: Command) -> tuple[str, ...] | None:
    """What a package runner is given; None where it is none."""
    words = command.words
    lowered = tuple(word.lower() for word in (command.name, *words[1:3]))
    if command.name in (*_NODE, "uvx"):
        return words[1:]
    if lowered[:2] in _NODE_VERBS or lowered[:2] in _PYTHON_VERBS:
        return words[2:]
    return words[3:] if lowered in _PYTHON_VERBS else None


def _package(words: Sequence[str], named_by: str) -> str:
    """The package: named by a flag, else the first word that belongs to none."""
    place, named = 0, ""
    while place < len(words) and words[place].startswith("-") and words[place] != "--":
        flag, equals, value = words[place].partition("=")
        takes_value = not equals and (flag in _VALUE_FLAGS or flag in _NAMES_IT)
        if flag == named_by or (flag == "-p" and named_by == "--package"):
            named = value or "".join(words[place + 1 : place + 2])
        place += 2 if takes_value else 1
    return named or next((word for word in words[place:] if word != "--"), "")


def _pinned(package: str, dots: int) -> bool:
    """Whether it is on this machine, at one commit, or at a version with at least so many dots in it."""
    if _LOCAL.match(package) or _COMMIT.search(package):
        return True
    version = _EXACT.search(package)
    return version is not None and version[0].count(".") >= dots


def _floating(image: str) -> bool:
    name = image.rpartition("/")[2]
    return "@sha256:" not in image and (":" not in name or name.endswith(":latest"))
