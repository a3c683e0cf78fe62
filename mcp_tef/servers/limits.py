"""How much of a server is put up with, each limit with its reason."""

from typing import Final

MAX_MESSAGE_BYTES: Final = 16 * 1024 * 1024
"""One message. The largest honest tool lists are about 1 MB; 16 MB still parses in a fraction of a second.

Over the older SSE transport it is 1 MB: the SDK decides that there, and offers no way to say otherwise.
"""

MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024
"""All that a server sends in one visit, so that a flood of small messages ends as well."""

MAX_REPLY_CHARACTERS: Final = 256 * 1024
"""How much of the texts in a tool's reply is kept: beyond what anybody reads, and fifty of them fit a workspace."""

MAX_FILE_BYTES: Final = 64 * 1024 * 1024
"""A tools file: the same as what a server may send."""

MAX_PAGES: Final = 200
"""Pages of one listing. Servers send 10 to 1,000 tools a page, so this holds every catalogue that we know of."""

MAX_TOOLS: Final = 20_000
"""Tools of one listing: ten times the largest set for which matrices are drawn."""

MAX_DEPTH: Final = 64
"""How deeply a definition may nest. Honest ones stay under 20; walking 64 is safe in every recursion that follows."""

MAX_NAME_LENGTH: Final = 512
"""Characters of a tool's name. The protocol advises 128; beyond this it is no name."""

MAX_JUNK_LINES: Final = 1_000
"""Lines on standard output that are no messages. A banner or a stray log is put up with; a flood is not."""

TAIL_LINES: Final = 20
"""How many of a program's last error lines are kept: what fits a dialog, and what holds most tracebacks' ends."""

TAIL_BYTES: Final = 16 * 1024
"""How many bytes of them, so that a flood of errors costs no memory."""

SAMPLE_CHARACTERS: Final = 120
"""How much of a foreign text is quoted inside a sentence."""

SHORTEST_IN_DEFINITIONS: Final = 8
"""Characters of a secret that is taken out of tool definitions, too. A shorter one may be a word in them by chance."""

EXIT_SECONDS: Final = 0.5
"""How long to wait for a program's exit code and last words once its output has ended."""

LEAVE_SECONDS: Final = 1.0
"""How long a program may take to leave by itself after its input was closed."""

TERMINATE_SECONDS: Final = 1.0
"""How long its process group may take to leave after it was told to, before it is killed."""

PART_SECONDS: Final = 3.0
"""How long an HTTP server may take to hear that we leave; it is told as a courtesy only."""
