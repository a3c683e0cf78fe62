"""Stand-ins for search services on loopback that answer in each provider's documented form."""

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlsplit

PAGE = "https://docs.example.com/pumps"
FORMS: dict[str, Any] = {
    "brave": {
        "type": "search",
        "query": {"original": "pumps"},
        "web": {
            "type": "search",
            "results": [
                {
                    "title": "Pumps &amp; more",
                    "url": PAGE,
                    "description": "All <strong>pumps</strong>.",
                    "page_age": "2026-11-01T09:30:00",
                    "age": "3 weeks ago",
                }
            ],
        },
    },
    "tavily": {
        "query": "pumps",
        "results": [{"title": "Pumps & more", "url": PAGE, "content": "All pumps.", "score": 0.9}],
        "response_time": "0.4",
    },
    "searxng": {
        "query": "pumps",
        "number_of_results": 0,
        "results": [
            {
                "title": "Pumps & more",
                "url": PAGE,
                "content": "All pumps.",
                "publishedDate": "2026-11-01T09:30:00",
                "engine": "bing",
            }
        ],
    },
    "exa_ai": {
        "requestId": "r1",
        "results": [
            {
                "id": PAGE,
                "title": "Pumps & more",
                "url": PAGE,
                "publishedDate": "2026-11-01T09:30:00.000Z",
                "highlights": ["All pumps."],
            }
        ],
    },
    "google_pse": {
        "kind": "customsearch#search",
        "items": [
            {
                "title": "Pumps & more",
                "link": PAGE,
                "snippet": "All pumps.",
                "pagemap": {"metatags": [{"article:published_time": "2026-11-01", "article:modified_time": "junk"}]},
            }
        ],
    },
    "dataforseo": {
        "status_code": 20000,
        "tasks": [
            {
                "status_code": 20000,
                "result": [
                    {
                        "items": [
                            {"type": "people_also_ask", "title": "Questions"},
                            {
                                "type": "organic",
                                "title": "Pumps & more",
                                "url": PAGE,
                                "description": "All pumps.",
                                "timestamp": "2026-11-01 09:30:00 +00:00",
                            },
                        ]
                    }
                ],
            }
        ],
    },
}


@dataclass
class Asked:
    """A request as it came in."""

    method: str
    path: str
    params: dict[str, list[str]]
    headers: dict[str, str]
    body: Any


@dataclass
class SearchService:
    """One service; `hang` keeps it from answering, until it is closed."""

    answer: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hang: bool = False
    asked: list[Asked] = field(default_factory=list)

    def __enter__(self) -> "SearchService":
        service, self._closed = self, threading.Event()

        class Handler(BaseHTTPRequestHandler):
            def _serve(self) -> None:
                parts, length = urlsplit(self.path), int(self.headers.get("content-length", 0))
                body = json.loads(self.rfile.read(length)) if length else None
                headers = {name.lower(): value for name, value in self.headers.items()}
                service.asked.append(Asked(self.command, parts.path, parse_qs(parts.query), headers, body))
                if service.hang:
                    service._closed.wait(30)
                    return
                text = service.answer if isinstance(service.answer, str) else json.dumps(service.answer)
                self.send_response(service.status)
                for name, value in {**service.headers, "Content-Length": str(len(text.encode()))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode())

            do_GET = do_POST = _serve  # noqa: N815

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._closed.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        """The base address."""
        return f"http://127.0.0.1:{self._server.server_port}"
