"""Loads litellm as the program does, before a test module imports it: it would ask the network for prices otherwise."""

from mcp_tef.provider_http.litellm_loader import _load

_load()
