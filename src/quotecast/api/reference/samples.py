"""Code samples of the operations in the OpenAPI document: curl, Python and TypeScript."""

import shlex
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

from msgspec import Struct, json

#: The media type of server-sent events.
EVENTS: Final = "text/event-stream"
#: The address of a service that `quotecast up` started.
ADDRESS: Final = "http://127.0.0.1:8000"
#: Parameters that one of the operation's questions needs, and another does not: by path.
_SHOWN: Final = {"/api/market/quotes": "symbols"}


class Sample(Struct, frozen=True):
    """A request that fits an operation, with its required parameters."""

    method: str
    path: str
    path_values: Mapping[str, str]
    query: Mapping[str, str]
    secured: bool
    #: None without a body.
    media_type: str | None
    body: Any
    #: The media type of the answer; None without a body.
    answer: str | None

    @classmethod
    def of(cls, method: str, path: str, operation: Mapping[str, Any]) -> "Sample":
        """Returns the request, with the values of the operation's examples."""
        given = operation.get("parameters", ())
        needed = [each for each in given if each["required"] or each["name"] == _SHOWN.get(path)]
        values = {
            place: {
                each["name"]: str(each["schema"].get("examples", ["..."])[0])
                for each in needed
                if each["in"] == place
            }
            for place in ("path", "query")
        }
        content = operation.get("requestBody", {}).get("content", {None: {}})
        media_type, media = next(iter(content.items()))
        example: Mapping[str, Any] = next(iter(media.get("examples", {}).values()), {})
        security = operation.get("security", ())
        secured = bool(security) and {} not in security
        responses = operation["responses"].items()
        good: Mapping[str, Any] = next((each for status, each in responses if status.startswith("2")), {})
        answer = next(iter(good.get("content", {})), None)
        body = example.get("value")
        return cls(method, path, values["path"], values["query"], secured, media_type, body, answer)

    @property
    def filled_path(self) -> str:
        """The path with its values."""
        return self.path.format_map({name: quote(value, safe="") for name, value in self.path_values.items()})

    @property
    def url(self) -> str:
        """The address with path and query."""
        return ADDRESS + self.filled_path + (f"?{urlencode(self.query, safe=',/')}" if self.query else "")


def add_samples(document: dict[str, Any]) -> None:
    """Adds `x-codeSamples` to every operation."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            sample = Sample.of(method.upper(), path, operation)
            operation["x-codeSamples"] = [
                {"lang": lang, "label": label, "source": source(sample)} for lang, label, source in _LANGUAGES
            ]


def _curl(sample: Sample) -> str:
    options = ["-N"] if sample.answer == EVENTS else []
    if sample.method != "GET":
        options.append(f"-X {sample.method}")
    lines = [" ".join(["curl", *options, shlex.quote(sample.url)])]
    if sample.secured:
        lines.append('-H "Authorization: Bearer $TOKEN"')
    if sample.media_type:
        lines.append(f"-H 'Content-Type: {sample.media_type}'")
        lines.append(f"--data-binary {shlex.quote(_text(sample.body))}")
    return " \\\n  ".join(lines)


def _python(sample: Sample) -> str:
    if sample.answer == EVENTS:
        return (
            f'import httpx\n\nwith httpx.stream("GET", {sample.url!r}, timeout=None) as answer:\n'
            "    for line in answer.iter_lines():\n        print(line)"
        )
    if {sample.answer, sample.media_type} <= {None, "application/json"}:
        return _python_client(sample)
    lines = [repr(sample.method), repr(sample.url)]
    if sample.secured:
        lines.append('headers={"Authorization": f"Bearer {token}"}')
    if sample.media_type:
        lines.append(f"content={sample.body!r}")
    arguments = "".join(f"    {line},\n" for line in lines)
    return f"import httpx\n\nanswer = httpx.request(\n{arguments})\nprint(answer.raise_for_status().text)"


def _python_client(sample: Sample) -> str:
    token = ", token=token" if sample.secured else ""
    path = sample.filled_path
    given = [repr(sample.method), repr(path)]
    if sample.query:
        given.append(f"query={dict(sample.query)!r}")
    if sample.media_type:
        given.append(f"body={sample.body!r}")
    call = f"client.request({', '.join(given)})"
    return (
        f"from quotecast_client import Client\n\nwith Client({ADDRESS!r}{token}) as client:\n"
        f"    {f'print({call})' if sample.answer else call}"
    )


def _typescript(sample: Sample) -> str:
    if sample.answer == EVENTS:
        return (
            f'const events = new EventSource("{sample.url}");\n'
            "events.onmessage = ({ data }) => console.log(JSON.parse(data));"
        )
    given = {
        "path": dict(sample.path_values),
        "query": dict(sample.query),
        "body" if sample.media_type == "application/json" else "csv": sample.body,
    }
    sent = {name: value for name, value in given.items() if value}
    token = ", { token }" if sample.secured else ""
    call = f'await client.call("{sample.method} {sample.path}"{f", {_text(sent)}" if sent else ""})'
    return (
        f'import {{ Client }} from "quotecast-client";\n\nconst client = new Client("{ADDRESS}"{token});\n'
        f"{f'console.log({call})' if sample.answer else call};"
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.encode(value).decode()


_LANGUAGES: Final = (
    ("Shell", "curl", _curl),
    ("Python", "Python", _python),
    ("TypeScript", "TypeScript", _typescript),
)
