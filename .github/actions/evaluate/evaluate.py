"""Evaluates the tools of a pull request: findings, similar tools, runs, and a trial against the tools of the base.

Base and head are asked in pairs and in random order, since answers of a model drift within an hour. Without a model
or its key, as in pull requests from forks, nothing is asked and the verdict is neutral.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from mcp_tef import TefError, append_text, git_objects, parse_model, quick, write_text
from mcp_tef.cli.main import main as command

NEUTRAL = "neutral"
NOT_ASKED = "no model was asked, since no model or no key is given; rules, similarity and the baseline ran"
WORSE, FAILED = "worse", 1
BY_A_SIGNAL = (129, 130, 143)
"""Exit codes of a command that a signal ended."""


def main(environment: Mapping[str, str]) -> int:
    """Do all that the environment asks for; 1 where the tools are worse or miss a threshold or a rule."""
    output = Path(environment.get("OUTPUT") or "mcp-tef-results").absolute()
    output.mkdir(parents=True, exist_ok=True)
    server, cases = environment["SERVER"], Path(environment["CASES"]).absolute()
    head = saved(output / "tools.json", server, Path.cwd())
    summary = Path(environment.get("GITHUB_STEP_SUMMARY") or output / "summary.md")
    codes = [
        product("quality", "--tools-file", head, "--sarif", output / "quality.sarif", "--markdown", summary),
        product("similarity", "--tools-file", head, "--out", output / "similarity.html") * (head_count(head) > 1),
    ]
    model, key = environment.get("MODEL", ""), has_key(environment)
    cap = ("--max-cost", environment["MAX_COST"]) if environment.get("MAX_COST") else ()
    asked = ("--model", model, *cap) if model and key else ()
    address = ("--base-url", environment["BASE_URL"]) if asked and environment.get("BASE_URL") else ()
    limit = ("--fail-under", environment["FAIL_UNDER"]) if asked and environment.get("FAIL_UNDER") else ()
    reports = ("--junit", output / "results.xml", "--html", output / "report.html", "--markdown", summary)
    ran = product("run", "--tools-file", head, "--cases", cases, *asked, *address, *limit, *reports)
    codes += [ran] if limit or ran > FAILED else []
    verdict = NEUTRAL
    if asked and environment.get("BASE_REF"):
        verdict = compared(environment, head, cases, output, (*asked, *address))
    tell(summary, environment, verdict, asked_model=bool(asked))
    return FAILED if any(codes) or verdict == WORSE else 0


def has_key(environment: Mapping[str, str]) -> bool:
    """Return True if the model needs no key, or the environment has it."""
    if not environment.get("MODEL"):
        return False
    provider, _ = parse_model(environment["MODEL"])
    names = (f"{provider.upper()}_API_KEY",)
    return bool(environment.get("BASE_URL")) or any(environment.get(name) for name in names)


def saved(file: Path, server: str, folder: Path) -> Path:
    """Write the tools that the server of a folder lists."""
    with chdir(folder), quick.QuickSession(server) as session:
        tools = [one.tool.raw for one in session.tools().tools]
    write_text(file, json.dumps({"tools": tools}))
    return file


def head_count(file: Path) -> int:
    """Return the number of tools of a file."""
    return len(json.loads(file.read_text("utf-8"))["tools"])


@contextmanager
def checked_out(ref: str) -> Iterator[Path]:
    """Have the files of another commit in a folder of its own; no filter or hook of the repository runs."""
    with git_objects(Path.cwd()) as objects, TemporaryDirectory() as folder:
        objects.write_files(objects.commit(ref), Path(folder))
        yield Path(folder)


def compared(environment: Mapping[str, str], head: Path, cases: Path, output: Path, asked: tuple[str, ...]) -> str:
    """Try the change from base to head, and return the verdict on these cases."""
    with checked_out(environment["BASE_REF"]) as place:
        base = saved(output / "base-tools.json", environment["SERVER"], place)
    before, after = (json.loads(file.read_text("utf-8"))["tools"] for file in (base, head))
    if before == after:
        return "no_worthwhile_change"
    patch = output / "change.patch.json"
    write_text(patch, json.dumps([{"op": "replace", "path": "/tools", "value": after}]))
    given = ("--patch", patch, "--tools-file", base, "--cases", cases, "--repeats", environment.get("ROUNDS") or "5")
    files = ("--html", output / "change.html", "--verdict", output / "verdict.json")
    product("try", *given, *asked, *files)
    if not (output / "verdict.json").exists():
        sys.exit("The trial could not be done; the lines above say why.")
    return str(json.loads((output / "verdict.json").read_text("utf-8"))["verdict"]["on_these_cases"])


def product(*arguments: object) -> int:
    """Do a command of mcp-tef, and return its exit code. A signal that ended the command ends the action too."""
    code = command([str(argument) for argument in arguments])
    return sys.exit(code) if code in BY_A_SIGNAL else code


def tell(summary: Path, environment: Mapping[str, str], verdict: str, *, asked_model: bool) -> None:
    """Append the verdict to the summary, and set the output of the step."""
    lines = {
        "better": "The tools of this pull request are **better** on these cases.",
        WORSE: "The tools of this pull request are **worse** on these cases.",
        "cannot_tell_yet": "**Not enough runs** to tell if the tools of this pull request are better or worse.",
        "no_worthwhile_change": "The change of tools makes **no worthwhile difference** on these cases.",
        NEUTRAL: f"**Neutral**: {'there is no base to compare with' if asked_model else NOT_ASKED}.",
    }
    append_text(summary, f"\n## Change of tools\n\n{lines[verdict]}\n")
    if environment.get("GITHUB_OUTPUT"):
        with Path(environment["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
            file.write(f"verdict={verdict}\n")


if __name__ == "__main__":
    try:
        sys.exit(main(os.environ))
    except TefError as error:
        sys.exit(f"{error.message} {error.hint}")
