"""The commands of the library whose output is recorded."""

LIBRARY_LINES = (
    *("list", "add rent.json --config answer.json --category shop --json", "edit rent --tag bikes --json"),
    *("show rent --versions", "show rent --compare 1 2 --json", """run rent '{"path": "R-7"}' --json"""),
    *("run rent '{\"path\": 7}'", "deactivate rent", "activate rent --json", "deactivate rent --json", "activate rent"),
    *("deprecate rent --json", "import --server files", "import --server files --json", "list --json"),
    *("history rent --json", "export rent --json", "delete rent", "delete rent --yes --json"),
)
