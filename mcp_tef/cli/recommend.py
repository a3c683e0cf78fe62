"""The verb `recommend`: other texts for pairs of tools that are flagged or named, by rules or a model."""

from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef import FlagRule, InputError, Json, ModelSettings, PairAdvice, PromptKind, ToolSet
from mcp_tef.cli.arguments import FAILED, UNREACHED, Verbs, add_verb
from mcp_tef.cli.formatting import advice_lines, compared_line, counted
from mcp_tef.cli.model_options import (
    add_prompt_options,
    add_writer_options,
    allow_typed_addresses,
    asked_with_prompt,
    tell_estimate,
    writer,
)
from mcp_tef.cli.session import opened, with_consent
from mcp_tef.cli.terminal import Terminal
from mcp_tef.cli.tool_options import (
    add_embedder_options,
    add_source_options,
    add_threshold_option,
    analyse,
    code_of,
    flag_rule,
    gather,
    keys_for,
    provider_of,
)

if TYPE_CHECKING:
    from mcp_tef import Similarity


def register(verbs: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(verbs, "recommend", "what to write instead, so that similar tools are told apart", recommend)
    add_source_options(parser)
    pair_help = "advise on these two, by id or name (default: all flagged pairs)"
    parser.add_argument("--pair", nargs=2, action="append", default=[], metavar=("A", "B"), help=pair_help)
    add_threshold_option(parser)
    add_embedder_options(parser)
    add_writer_options(parser, "the model that writes (default: drafts from the tools' own schemas)")
    add_prompt_options(parser, PromptKind.REWRITING)
    parser.add_argument("--patch-dir", type=Path, metavar="DIR", help="write patches and overrides as files to DIR")


def _require_one_address(arguments: Namespace, model: ModelSettings | None) -> None:
    """Raise InputError where one key would be for an embedder and a model of one provider at two addresses."""
    if not (arguments.key_stdin and model and provider_of(arguments) == model.provider):
        return
    if (arguments.embedder_url or "") != (model.base_url or ""):
        raise InputError(
            f"The key for {model.provider} could go to the embedder or to the model.",
            hint="Leave --key-stdin out, or give both the same address.",
            code="bad_usage",
        )


async def recommend(arguments: Namespace, terminal: Terminal) -> int:
    """Tell what is wrong between pairs and what to write; 3 where nothing could be asked or read, 1 for some."""
    from mcp_tef import AnalysisReports

    model = writer(arguments)
    _require_one_address(arguments, model)
    keys = keys_for(arguments, terminal, [model.provider] if model else [])
    async with opened(arguments, terminal) as engine:
        model = await asked_with_prompt(engine, model, arguments, PromptKind.REWRITING)
        tool_set = await gather(engine, arguments, terminal)
        found = await analyse(engine, tool_set, arguments, terminal, keys, full=True)
        places = wanted_pairs(found, arguments.pair, flag_rule(engine, arguments))
        if model and places:
            tell_estimate(await engine.recommend.estimate(found, places, model), model, terminal)
        if model:
            allow_typed_addresses(engine, [model])
        ask = partial(
            engine.recommend.pairs,
            *(found, places),
            model=model,
            keys=keys,
            max_cost_usd=arguments.max_cost,
        )
        advice = await with_consent(engine, arguments, terminal, ask)
        files = await AnalysisReports().write_advice(advice, arguments.patch_dir) if arguments.patch_dir else ()
    advice = tuple(sorted(advice, key=lambda one: -_gain(one)))
    terminal.document(_document(found, advice, model, files))
    terminal.say(compared_line(found))
    for one in advice:
        terminal.say(*advice_lines(one))
    terminal.say(*_closing(len(found), advice, files, arguments))
    return _code(advice, tool_set)


def wanted_pairs(found: "Similarity", named: Sequence[Sequence[str]], rule: FlagRule) -> list[tuple[int, int]]:
    """Return the indices of the named pairs, else of the flagged ones, the most confusable first."""
    if not named:
        flagged = sorted(found.flagged(rule), key=lambda pair: -pair.confusability)
        return [(pair.a, pair.b) for pair in flagged]
    return [(_place(found, a), _place(found, b)) for a, b in named]


def _place(found: "Similarity", name: str) -> int:
    """Return the index of a tool, found by its id or by a name that only one tool has."""
    ids = {one.id: place for place, one in enumerate(found.tools)}
    if name in ids:
        return ids[name]
    same = [one.id for one in found.tools if one.tool.name == name]
    if len(same) == 1:
        return ids[same[0]]
    if same:
        raise InputError(f"Several tools are named {name}.", hint=f"Name one by its id: {', '.join(same[:10])}.")
    raise InputError(f"There is no tool named {name}.", hint="Look at their ids with: mcp-tef similarity --json")


def _gain(advice: PairAdvice) -> int:
    """Return how many cases the baseline wins with the best recommendation for a pair."""
    return max((one.cases.gain for one in advice.recommendations if one.cases), default=0)


def _document(
    found: "Similarity", advice: Sequence[PairAdvice], model: ModelSettings | None, files: Sequence[Path]
) -> Json:
    from mcp_tef import advice_to_json, joint_changes

    return {
        "embedder": found.embedder,
        "model": model.label if model else None,
        "prompt": model.prompt or None if model else None,
        "pairs": [advice_to_json(one) for one in advice],
        "patches": {server: list(patch) for server, (patch, _) in joint_changes(advice).items()},
        "files": [str(path) for path in files],
        "unreachable": [{"server": one.server, "reason": one.reason} for one in found.unreachable],
    }


def _closing(compared: int, advice: Sequence[PairAdvice], files: Sequence[Path], arguments: Namespace) -> list[str]:
    none = "No pair is flagged. Lower --threshold, or name two tools with --pair."
    lines = [none] if compared > 1 and not advice else []
    return [*lines, "", f"Written to {arguments.patch_dir}: {counted(len(files), 'file')}."] if files else lines


def _code(advice: Sequence[PairAdvice], tool_set: ToolSet) -> int:
    failed = sum(one.failure is not None for one in advice)
    if failed and failed == len(advice):
        return UNREACHED
    return code_of(tool_set) or (FAILED if failed else 0)
