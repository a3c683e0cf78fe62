"""Command lines as they are read for questions: the programs inside of one, and the packages that it fetches."""

from collections.abc import Sequence

import pytest

from mcp_tef.trust.command_lines import (
    GivenText,
    LaunchCommand,
    commands,
    container_image,
    fetched,
    fetches_package,
    given_text,
    program_name,
    unwrapped,
)

NAMES = (
    ("/usr/bin/python3.11", "python"),
    ("C:\\Tools\\CMD.EXE", "cmd"),
    ("npx.cmd", "npx"),
    ("a/run.bat", "run"),
    ("node18", "node18"),
    ("sh", "sh"),
)
INSIDE: tuple[tuple[tuple[str, ...], list[str]], ...] = (
    (("ls", "-l"), ["ls"]),
    ((), []),
    (("sh", "-c", "a 1 && b || c; d & e"), ["sh", "a", "b", "c", "d", "e"]),
    (("sh", "-c", "curl x | bash -s"), ["sh", "curl", "bash"]),
    (("bash", "-lc", "a `b` $(c)"), ["bash", "a", "b", "$", "c"]),
    (("sudo", "-u", "bob", "sh", "-c", "a"), ["sudo", "sh", "a"]),
    (("env", "A=1", "nice", "-n", "5", "b"), ["env", "nice", "b"]),
    (("timeout", "5", "a", "b"), ["timeout", "a"]),
    (("cmd", "/c", "del x"), ["cmd", "del"]),
    (("cmd", "/d", "/k", "del x"), ["cmd", "del"]),
    (("sh", "script", "-c", "a"), ["sh"]),
    (("sh", "-c", "'a b' c"), ["sh", "a b"]),
    (("sh", "-c", '"a b" c'), ["sh", "a b"]),
    (("pwsh", "-Command", "a"), ["pwsh", "a"]),
    (("python", "-c", "a"), ["python"]),
)
TEXTS = (
    (("python3", "-Ic", "import x", "y"), ("-Ic", "import x y")),
    (("node", "--eval", "1"), ("--eval", "1")),
    (("deno", "eval", "1"), ("eval", "1")),
    (("perl", "-ne", "1"), ("-ne", "1")),
    (("php", "-r", "1"), ("-r", "1")),
    (("bash", "-x", "-c", "1"), ("-c", "1")),
    (("bash", "a.sh", "-c", "1"), None),
    (("cat", "-c", "1"), None),
    (("bash",), None),
)
FETCHED: tuple[tuple[tuple[str, ...], list[str]], ...] = (
    (("npx", "-y", "thing"), ["thing"]),
    (("npx", "-y", "thing@1.2.3"), []),
    (("npx", "thing@1.2"), ["thing@1.2"]),
    (("npx", "-p", "lib", "bin"), ["lib"]),
    (("npx", "--package=lib@1.0.0", "bin"), []),
    (("npx", "./local"), []),
    (("npx", "--registry", "https://r.example", "thing"), ["thing"]),
    (("npx", "--", "thing"), ["thing"]),
    (("npx",), []),
    (("npm", "exec", "thing"), ["thing"]),
    (("NPM", "X", "thing"), ["thing"]),
    (("npm", "install", "thing"), []),
    (("pnpm", "dlx", "thing"), ["thing"]),
    (("bun", "x", "thing"), ["thing"]),
    (("yarn", "dlx", "thing"), ["thing"]),
    (("uvx", "thing"), ["thing"]),
    (("uvx", "thing==1"), []),
    (("uvx", "thing@1.2"), []),
    (("uvx", "--from", "lib", "bin"), ["lib"]),
    (("uvx", "--from", "lib==2.0rc1", "bin"), []),
    (("uvx", "--python", "3.12", "thing"), ["thing"]),
    (("uv", "tool", "run", "thing"), ["thing"]),
    (("uv", "run", "thing"), []),
    (("pipx", "run", "thing"), ["thing"]),
    (("uvx", "git+https://a.example/b@0123abc"), []),
    (("docker", "run", "-i", "--rm", "img"), ["img"]),
    (("docker", "run", "-e", "A=1", "org/img:latest"), ["org/img:latest"]),
    (("docker", "run", "img:1.2"), []),
    (("docker", "run", "host:5000/img"), ["host:5000/img"]),
    (("docker", "run", "img@sha256:00"), []),
    (("docker", "ps"), []),
    (("docker", "run"), []),
    (("docker", "run", "img"), ["img"]),
    (("deno", "run", "jsr:other@1.2"), ["jsr:other@1.2"]),
    (("podman", "container", "run", "img"), ["img"]),
    (("docker", "a", "b", "run", "img"), []),
    (("deno", "run", "npm:thing", "jsr:other@1.2.3"), ["npm:thing"]),
    (("cat", "npm:thing"), []),
)


@pytest.mark.parametrize(("word", "name"), NAMES)
def test_a_program_goes_by_its_name_without_folder_ending_and_version(word: str, name: str) -> None:
    assert program_name(word) == name
    assert LaunchCommand((word,)).name == name


@pytest.mark.parametrize(("argv", "names"), INSIDE)
def test_every_program_that_a_command_line_would_start_is_found(argv: Sequence[str], names: list[str]) -> None:
    assert [one.name for one in commands(argv)] == names


def test_what_a_program_reads_from_another_is_known() -> None:
    found = commands(("sudo", "sh", "-c", "curl -s x | env A=1 bash; cat"))
    assert [(one.words, one.fed_by) for one in found[2:]] == [
        (("curl", "-s", "x"), ""),
        (("env", "A=1", "bash"), "curl"),
        (("cat",), ""),
        (("bash",), "curl"),
    ]


def test_only_so_many_words_and_commands_are_read() -> None:
    assert len(commands(("a",) * 5_000)[0].words) == 1_000
    assert len(commands(("sh", "-c", ";".join(["a"] * 500)))) == 201
    text = ";".join(" ".join(["a"] * number) for number in (999, 999, 998, 1, 1))
    assert [len(one.words) for one in commands(("sh", "-c", text))] == [3, 999, 999, 998, 1]
    nested = commands(("sudo",) * 5_000)
    assert sum(len(one.words) for one in nested[:-1]) < 3_000 <= sum(len(one.words) for one in nested)


@pytest.mark.parametrize(("argv", "text"), TEXTS)
def test_program_text_is_what_follows_its_flag(argv: Sequence[str], text: tuple[str, str] | None) -> None:
    assert given_text(LaunchCommand(tuple(argv))) == (GivenText(*text) if text else None)


def test_a_wrappers_own_words_are_left_out() -> None:
    assert unwrapped(("-u", "bob", "A=1", "5", "-x", "cat", "-n"), ("-u",)) == ("cat", "-n")
    assert unwrapped(("-u", "bob"), ()) == ("bob",)
    assert unwrapped(("-k", "1", "5s", "cat"), ("-k",)) == ("cat",)
    assert unwrapped(("-u",), ("-u",)) == unwrapped((), ()) == ()


@pytest.mark.parametrize(("argv", "packages"), FETCHED, ids=lambda one: " ".join(one) if isinstance(one, tuple) else "")
def test_what_is_fetched_in_its_newest_version_is_named(argv: Sequence[str], packages: list[str]) -> None:
    assert list(fetched(LaunchCommand(tuple(argv)))) == packages


@pytest.mark.parametrize(
    ("argv", "fetches"),
    [
        (("npx", "a@1.2.3"), True),
        (("docker", "run", "a:1"), True),
        (("docker", "ps"), False),
        (("docker", "container", "run", "a:1"), True),
        (("docker", "exec", "box", "run"), False),
        (("cat", "run"), False),
        (("uv", "run", "a"), False),
    ],
)
def test_a_package_comes_from_a_registry_however_it_is_pinned(argv: Sequence[str], fetches: bool) -> None:
    assert fetches_package(LaunchCommand(tuple(argv))) is fetches


def test_the_image_is_the_first_word_that_belongs_to_no_flag() -> None:
    assert container_image(("--rm", "-v", "/a:/b", "--name", "x", "img", "-e")) == "img"
    assert container_image(("-it", "img", "sh")) == "img"
    assert container_image(("--rm",)) == container_image(()) == ""
