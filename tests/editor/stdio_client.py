"""An editor for tests: it starts `lineage lsp` and talks to it over standard input and output."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcRequestCancelled
from pygls.lsp.client import LanguageClient

T = TypeVar("T")
_SECONDS = 20.0


class Editor:
    """A client with an event loop in a thread of its own, so that tests call it like anything else."""

    def __init__(self, folder: Path, *arguments: str, options: dict[str, Any] | None = None) -> None:
        self.folder = folder
        self.messages: list[str] = []
        self.shown: list[str] = []
        self._published: dict[str, types.PublishDiagnosticsParams] = {}
        self._arrived = threading.Condition()
        self._versions: dict[str, int] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.client = LanguageClient("test", "1")
        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(partial(self._publish))
        self.client.feature(types.WINDOW_SHOW_MESSAGE)(partial(self._message))
        self.client.feature(types.WINDOW_SHOW_DOCUMENT)(partial(self._show))
        self.run(self._begin(arguments, options))

    async def _begin(self, arguments: Sequence[str], options: dict[str, Any] | None) -> None:
        await self.client.start_io(str(Path(sys.executable).with_name("lineage")), "lsp", *arguments, cwd=self.folder)
        window = types.WindowClientCapabilities(show_document=types.ShowDocumentClientCapabilities(support=True))
        await self.client.initialize_async(
            types.InitializeParams(
                types.ClientCapabilities(window=window),
                root_uri=self.folder.as_uri(),
                workspace_folders=[types.WorkspaceFolder(self.folder.as_uri(), "project")],
                initialization_options=options,
            )
        )
        self.client.initialized(types.InitializedParams())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what a coroutine returns."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_SECONDS)

    def _publish(self, params: types.PublishDiagnosticsParams) -> None:
        with self._arrived:
            self._published[params.uri] = params
            self._arrived.notify_all()

    def _message(self, params: types.ShowMessageParams) -> None:
        self.messages.append(params.message)

    def _show(self, params: types.ShowDocumentParams) -> types.ShowDocumentResult:
        self.shown.append(params.uri)
        return types.ShowDocumentResult(True)

    # Documents

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str | None = None) -> str:
        """Open a file of the folder, with its text or another one; return its URI."""
        uri = self.uri(name)
        own = (self.folder / name).read_text() if text is None else text
        self._versions[uri] = 1
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "sql", 1, own)))
        return uri

    def change(self, uri: str, text: str) -> int:
        self._versions[uri] += 1
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self._versions[uri], uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )
        return self._versions[uri]

    def problems(self, uri: str, version: int = 1) -> list[types.Diagnostic]:
        """Return the diagnostics of a version of a document, once they arrive."""
        with self._arrived:
            arrived = self._arrived.wait_for(
                lambda: uri in self._published and (self._published[uri].version or 0) >= version, _SECONDS
            )
        assert arrived, "no diagnostics"
        return list(self._published[uri].diagnostics)

    # Requests

    def hover(self, uri: str, at: types.Position) -> str:
        found = self.run(self.client.text_document_hover_async(types.HoverParams(_document(uri), at)))
        assert found is None or isinstance(found.contents, types.MarkupContent)
        return "" if found is None else found.contents.value  # type: ignore[union-attr]

    def cancelled_hover(self, uri: str, at: types.Position) -> bool:
        """Ask, and cancel before the answer; return whether the server says so."""

        async def ask() -> bool:
            asking = self.client.protocol.send_request_async(
                types.TEXT_DOCUMENT_HOVER, types.HoverParams(_document(uri), at), msg_id="cancelled"
            )
            answer = asyncio.ensure_future(asking)
            await asyncio.sleep(0.05)
            self.client.cancel_request(types.CancelParams("cancelled"))
            try:
                await answer
            except JsonRpcRequestCancelled:
                return True
            return False

        return self.run(ask())

    def definition(self, uri: str, at: types.Position) -> list[types.Location]:
        found: Any = self.run(self.client.text_document_definition_async(types.DefinitionParams(_document(uri), at)))
        return list(found or [])

    def complete(self, uri: str, at: types.Position) -> dict[str, types.CompletionItem]:
        found: Any = self.run(self.client.text_document_completion_async(types.CompletionParams(_document(uri), at)))
        return {item.label: item for item in found.items}

    def actions(self, uri: str, at: types.Position) -> dict[str, Any]:
        params = types.CodeActionParams(_document(uri), types.Range(at, at), types.CodeActionContext([]))
        found: Any = self.run(self.client.text_document_code_action_async(params))
        return {action.title: action for action in found}

    def execute(self, action: types.Command) -> Any:
        return self.command(action.command, *(action.arguments or ()))

    def command(self, name: str, *arguments: Any) -> Any:
        params = types.ExecuteCommandParams(name, list(arguments))
        return self.run(self.client.workspace_execute_command_async(params))

    def close(self) -> str:
        """End the server; return what it logged, or nothing if it has ended before."""
        if self._loop.is_closed():
            return ""

        async def end() -> str:
            await self.client.shutdown_async(None)
            self.client.exit(None)
            server = self.client._server
            assert server is not None
            assert server.stderr is not None
            logged = await server.stderr.read()
            await self.client.stop()  # type: ignore[no-untyped-call]
            return logged.decode()

        logged = self.run(end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        return logged

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _document(uri: str) -> types.TextDocumentIdentifier:
    return types.TextDocumentIdentifier(uri)


def place(text: str, mark: str, nth: int = 0, inside: int = 1) -> types.Position:
    """Return the position within the nth occurrence of a text in another."""
    at = -1
    for _ in range(nth + 1):
        at = text.index(mark, at + 1)
    at += inside
    return types.Position(text.count("\n", 0, at), at - text.rfind("\n", 0, at) - 1)


def covered(text: str, at: types.Range) -> str:
    """Return the text of a range."""
    lines = text.split("\n")
    if at.start.line == at.end.line:
        return lines[at.start.line][at.start.character : at.end.character]
    first, last = lines[at.start.line][at.start.character :], lines[at.end.line][: at.end.character]
    return "\n".join([first, *lines[at.start.line + 1 : at.end.line], last])
