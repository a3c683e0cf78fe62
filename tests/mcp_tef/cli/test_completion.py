"""Shell completion and the manual page: made from the parser, and taken by the programs that they are for."""

import shutil
import subprocess
from pathlib import Path

import pytest

from mcp_tef.cli.arguments import verbs_below
from mcp_tef.cli.main import parser
from tests.support.command_line import say

COMPLETE = """
source {script}
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
COMP_LINE="${{COMP_WORDS[*]}}"
PREVIOUS="${{COMP_WORDS[COMP_CWORD-1]}}"
$(complete -p mcp-tef | sed 's/.*-F \\([^ ]*\\).*/\\1/') mcp-tef "${{COMP_WORDS[COMP_CWORD]}}" "$PREVIOUS"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script for bash, as a user would keep it."""
    said = say("completion", "bash")
    assert said.code == 0
    path = tmp_path_factory.mktemp("bash") / "mcp-tef"
    path.write_text(said.out, "utf-8")
    return path


@pytest.mark.parametrize(
    ("words", "offered", "not_offered"),
    [
        ("mcp-tef ''", {"run", "servers", "completion"}, {"sample-server", "manual", "list"}),
        ("mcp-tef ru", {"run", "runs"}, {"servers"}),
        ("mcp-tef servers ''", {"add", "list", "discover"}, {"run"}),
        ("mcp-tef servers re", {"remove"}, {"add"}),
        ("mcp-tef run --fail", {"--fail-under", "--fail-if-surely-under"}, {"--junit"}),
        ("mcp-tef run --mode ''", {"auto", "native", "json"}, {"run"}),
        ("mcp-tef completion ''", {"bash", "zsh", "fish"}, {"run"}),
        ("mcp-tef cases import ca", {"cases.yaml"}, {"tools.json"}),
        ("mcp-tef score in.jsonl --out ver", {"verdicts.jsonl"}, {"cases.yaml"}),
        ("mcp-tef recommend --patch-dir f", {"fixes"}, {"cases.yaml"}),
    ],
)
def test_bash_completes_verbs_options_choices_and_files(
    words: str, offered: set[str], not_offered: set[str], script: Path, tmp_path: Path
) -> None:
    for name in ("cases.yaml", "tools.json", "verdicts.jsonl"):
        (tmp_path / name).touch()
    (tmp_path / "fixes").mkdir()
    asked = COMPLETE.format(script=script, words=words)
    done = subprocess.run(["bash", "-c", asked], cwd=tmp_path, capture_output=True, text=True, check=False)
    found = {line.strip().rstrip("/") for line in done.stdout.splitlines()}
    assert offered <= found, done
    assert not_offered & found == set()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_has_every_verb_and_option(shell: str) -> None:
    said = say("completion", shell)
    listed = [(name, verb) for name, verb in verbs_below(parser()) if name and verb.is_listed]
    words = {word for name, _ in listed for word in name.split()}
    options = {option for _, verb in listed for action in verb._actions for option in action.option_strings}
    plain = {option.lstrip("-") if shell == "fish" else option for option in options}
    assert [word for word in sorted(words | plain) if word not in said.out] == []
    if checker := shutil.which(shell):
        subprocess.run([checker, "-n", "/dev/stdin"], input=said.out, text=True, check=True)


def test_the_script_is_one_document_with_json() -> None:
    said = say("completion", "zsh", "--json")
    assert (said.code, said.document["shell"]) == (0, "zsh")
    assert said.document["script"] == say("completion", "zsh").out


def test_an_unknown_shell_is_bad_usage() -> None:
    said = say("completion", "fsh")
    assert (said.code, "Did you mean fish?" in said.err) == (2, True)


def test_the_manual_page_holds_every_verb_and_option_with_its_help() -> None:
    page = say("help", "--man").out
    assert page.startswith(".TH MCP\\-TEF 1 ")
    for name, verb in verbs_below(parser()):
        if name and verb.is_listed:
            assert f".SS mcp\\-tef {name}\n".replace("ample-", "ample\\-") in page, name
            for option in (option for action in verb._actions for option in action.option_strings):
                assert option in ("-h", "--help") or f"\\fB{option.replace('-', chr(92) + '-')}\\fR" in page, option
    starts = {line.split()[0] for line in page.splitlines() if line.startswith((".", "'"))}
    assert starts == {".TH", ".SH", ".SS", ".PP", ".TP", ".nf", ".fi", ".B"}
    assert say("help", "--man", "--json").document == {"page": page}


def test_the_manual_page_is_set_without_a_warning() -> None:
    page = say("help", "--man").out
    if setter := shutil.which("groff"):
        command = [setter, "-man", "-Tutf8", "-ww", "-Kutf8"]
        done = subprocess.run(command, input=page, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        assert "dry" in done.stdout
