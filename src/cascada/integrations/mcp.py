"""MCP: a server that offers `rank` and `ask` as tools to agents, over stdio, with the protocol's own SDK.

    serve(asker_of(["documents/"]))

`cascada mcp PATH` runs it. While it serves, the SDK points this process's standard output at standard error, so that
nothing but the protocol is written there.
"""

from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, Literal, ParamSpec

from pydantic import Field, ValidationError

import cascada
from cascada.core.errors import CascadaError, require
from cascada.ranking import Ranker
from cascada.ranking.result import TextOrMapping
from cascada.search import Asker

require("mcp.server", "mcp", "serving agents")

from mcp.server import MCPServer  # noqa: E402
from mcp.server.mcpserver.exceptions import ToolError  # noqa: E402

Parameters = ParamSpec("Parameters")

INSTRUCTIONS = """\
`ask` answers a question from the documents that this server was started with: it returns sentences as they stand \
there, each with its document and place. `rank` orders texts that you already have by how well they answer a question. \
Scores are from 0 to 1. If "likely" is false, nothing that was found is likely to be an answer: say so instead of \
using it."""


class Server(MCPServer):
    """The SDK's server, whose errors are one sentence each."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            raise _as_sentence(error, name) from error.__cause__


def _as_sentence(error: ToolError, tool: str) -> ToolError:
    if isinstance(error.__cause__, ValidationError):
        problem = error.__cause__.errors(include_url=False)[0]
        where = ".".join(str(part) for part in problem["loc"])
        return ToolError(f"{where}: {problem['msg']}.")
    return type(error)(str(error).removeprefix(f"Error executing tool {tool}: "))


Question = Annotated[str, Field(description="The question, in words.")]
Top = Annotated[int | None, Field(ge=1, le=1000, description="Return only this many, the best ones.")]
MinScore = Annotated[float | None, Field(ge=0, le=1, description="Return only what scores at least this.")]
Cut = Annotated[Literal["gap"] | None, Field(description='"gap": return only what comes before the widest gap.')]
Long = Annotated[
    Literal["best", "first", "error"] | None,
    Field(description="Texts longer than the model reads: count their best window, cut them, or refuse them."),
]
Prior = Annotated[
    float | bool | None,
    Field(description='Blend in the first stage: true, or its weight. By the scores under "prior", else the order.'),
]
Deadline = Annotated[float | None, Field(gt=0, description="Stop after this many milliseconds with the best so far.")]


def server_of(ranker: Ranker, asker: Asker | None = None) -> Server:
    """The server, not yet running: `rank`, and `ask` if there is something to ask."""
    server = Server("cascada", instructions=INSTRUCTIONS, version=cascada.__version__, log_level="WARNING")

    @_tool(server)
    def rank(
        question: Question,
        candidates: Annotated[list[TextOrMapping], Field(description='The texts: strings, or objects with a "text".')],
        top: Top = None,
        min_score: MinScore = None,
        cut: Cut = None,
        long: Long = None,
        max_tokens: Annotated[int | None, Field(ge=1, description="Read only this many tokens of each text.")] = None,
        prior: Prior = None,
        skip_if_sure: Annotated[
            float | None,
            Field(ge=0, description="Keep the first stage's order if its best score is this many deviations ahead."),
        ] = None,
        deadline_ms: Deadline = None,
    ) -> dict[str, Any]:
        """Order texts by how well they answer a question, the best first. `index` is a text's place in `candidates`;
        `likely` says whether the best one is probably an answer."""
        ranking = ranker.rank(
            question,
            candidates,
            top=top,
            min_score=min_score,
            cut=cut,
            long=long,
            max_tokens=max_tokens,
            prior=prior,
            skip_if_sure=skip_if_sure,
            deadline_ms=deadline_ms,
        )
        return ranking.to_dict()

    if asker is None:
        return server

    @_tool(server)
    def ask(
        question: Question,
        top: Top = 3,
        paragraphs: Annotated[int, Field(ge=1, le=1000, description="Search this many paragraphs for answers.")] = 80,
        min_score: MinScore = None,
        cut: Cut = None,
        deadline_ms: Deadline = None,
    ) -> dict[str, Any]:
        """Answer a question from the documents of this server: the sentences that answer best, each with its document,
        its place there and the paragraph around it. `likely` says whether the first one is probably an answer."""
        answers = asker.ask(
            question, top=top, paragraphs=paragraphs, min_score=min_score, cut=cut, deadline_ms=deadline_ms
        )
        return answers.to_dict()

    return server


def serve(asker: Asker | Ranker) -> None:
    """Serve over standard input and output until the client closes them. A ranker alone offers `rank` only."""
    server = server_of(asker.ranker, asker) if isinstance(asker, Asker) else server_of(asker)
    server.run("stdio")


def _tool(server: Server) -> Callable[[Callable[Parameters, dict[str, Any]]], None]:
    """Add a function to the server's tools: a user's mistake is a tool error with its sentence."""

    def add(function: Callable[Parameters, dict[str, Any]]) -> None:
        @wraps(function)
        def tool(*args: Parameters.args, **kwargs: Parameters.kwargs) -> dict[str, Any]:
            try:
                return function(*args, **kwargs)
            except CascadaError as error:
                raise ToolError(str(error)) from error

        server.add_tool(tool, description=" ".join((function.__doc__ or "").split()), structured_output=True)

    return add
