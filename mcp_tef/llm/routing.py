"""Routes to models: which are asked directly, and where."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mcp_tef.llm.model_table import ModelTable
from mcp_tef.llm.providers import DIRECT_PROVIDERS, Target
from mcp_tef.model.addresses import host_of, is_custom

PATH = "/chat/completions"
LITELLM = "litellm"
OPENAI = DIRECT_PROVIDERS["openai"].address


_SERIES = re.compile(r"(?:.*/)?gpt-(\d+)(?:\.(\d+))?")
_NEEDS_A_RULE = re.compile(r"gpt-[56]|^responses/")
_FIRST_BY_RESPONSES = (5, 4)
_NO_ROW: Mapping[str, Any] = {}


def directly(aim: Target, table: ModelTable) -> Target:
    """Return a target with the address at which it is asked directly; unchanged where only litellm can ask it.

    litellm asks some models by another interface of OpenAI's, and those of the series GPT-5 that it does not know by
    their names.
    """
    row = table.rows.get(f"{aim.provider}/{aim.model}", _NO_ROW)
    # Prices that depend on the hour or on the length of the prompt are computed by litellm only.
    is_priced_there = "special_prices" in row and not is_custom(aim.provider, aim.address)
    if row.get("mode") == "responses" or is_priced_there:
        return aim
    rules = table.openai_rules.get(aim.model, "") if aim.provider == "openai" else ""
    if aim.provider == "openai" and not _can_be_asked(aim, rules):
        return aim
    return replace(aim, chat_url=chat_url(aim.provider, aim.address), rules=rules)


def _can_be_asked(aim: Target, rules: str) -> bool:
    """Return True if the rules of a model of OpenAI's are known, and litellm is not among them."""
    return rules != LITELLM and (not _NEEDS_A_RULE.search(aim.model) or _has_rule(aim, rules))


def _has_rule(aim: Target, rules: str) -> bool:
    """Return True if the table says how a model of the series GPT-5 is asked where this one is.

    At OpenAI's own address the later ones take tools by another interface only.
    """
    series = _SERIES.match(aim.model)
    later = series is not None and (int(series[1]), int(series[2] or 0)) >= _FIRST_BY_RESPONSES
    return bool(rules) and not (later and host_of(aim.address or OPENAI).endswith(".openai.com"))


def chat_url(provider: str, address: str | None) -> str:
    """Return where chats with a provider are sent; empty where they cannot be asked for directly.

    Addresses with a query belong to other protocols, and litellm knows how to ask there.
    """
    known = DIRECT_PROVIDERS.get(provider)
    if known is None:
        return ""
    base = (address or known.address).rstrip("/")
    if not base or set(base) & set("?#"):
        return ""
    needs_version = provider == "mistral" and not base.endswith(("/v1", PATH))
    whole = f"{base}/v1" if needs_version else base
    return whole if whole.endswith(PATH) else whole + PATH
