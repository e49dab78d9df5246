"""The language server: the protocol's requests on one side, an `EditorSession` on the other.

Requests are coroutines that wait for threads, so that any of them can be cancelled: a question to the store ends at
once, a document that has changed is not read to the end of the queue.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcInternalError
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from lineage import __version__
from lineage.store.time_limit import TimeLimit, time_limit
from lineage_editor.analysis import DocumentAnalysis
from lineage_editor.definition_places import DefinitionPlace
from lineage_editor.editor_diagnostics import failed_reading
from lineage_editor.editor_session import EditorSession
from lineage_editor.quiet_logging import kind_and_place, logger
from lineage_editor.requests import (
    EXPLORER_COMMAND,
    IMPACT_COMMAND,
    actions_at,
    completion_at,
    definitions_at,
    explorer_address_at,
    hover_at,
    impact_at,
    problems_of,
)
from lineage_editor.settings import EditorSettings
from lineage_editor.text_positions import TextPositions

__all__ = ["make_server"]

T = TypeVar("T")
_DEBOUNCE_SECONDS = 0.15
_ANSWER_SECONDS = 2.0


class _QuietServer(LanguageServer):
    """A server whose messages about errors have no text of documents in them."""

    def report_server_error(self, error: Exception, source: Any) -> None:  # noqa: ARG002  the library's signature
        """Log the kind of an error and its place."""
        logger.error("%s", kind_and_place(error))


def make_server(settings: EditorSettings) -> LanguageServer:
    """Return a server that is ready to start (`start_io`)."""
    server = _QuietServer("lineage", __version__, types.TextDocumentSyncKind.Full)
    _Handlers(server, settings)
    return server


class _Handlers:
    """The handlers of the protocol's requests, and the documents that are open."""

    def __init__(self, server: LanguageServer, settings: EditorSettings) -> None:
        self._server = server
        self._session = EditorSession(settings, self._note)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._readers = ThreadPoolExecutor(2, "reader")
        self._askers = ThreadPoolExecutor(2, "asker")
        self._reading: dict[str, tuple[str, asyncio.Future[DocumentAnalysis]]] = {}
        """Of each open document, the text that is read, or was."""
        self._wanted: dict[str, str] = {}
        """The text of each document that is to be read; reading an earlier one ends."""
        self._last: dict[str, DocumentAnalysis] = {}
        self._publishing: dict[str, asyncio.Task[None]] = {}
        self._register()

    def _register(self) -> None:
        features: list[tuple[str, Any, Any]] = [
            (types.INITIALIZE, self._initialize, None),
            (types.SHUTDOWN, self._shutdown, None),
            (types.TEXT_DOCUMENT_DID_OPEN, self._opened, None),
            (types.TEXT_DOCUMENT_DID_CHANGE, self._changed, None),
            (types.TEXT_DOCUMENT_DID_SAVE, self._saved, None),
            (types.TEXT_DOCUMENT_DID_CLOSE, self._closed, None),
            (types.TEXT_DOCUMENT_HOVER, self._hover, None),
            (types.TEXT_DOCUMENT_DEFINITION, self._definition, None),
            (types.TEXT_DOCUMENT_COMPLETION, self._completion, types.CompletionOptions(trigger_characters=["."])),
            (types.TEXT_DOCUMENT_CODE_ACTION, self._actions, None),
        ]
        for name, handler, options in features:
            self._server.feature(name, options)(partial(handler))  # the library sets attributes of what it gets

        async def impact(uri: str, position: types.Position) -> dict[str, Any] | None:
            return await self._impact(uri, position)

        async def explorer(uri: str, position: types.Position) -> str | None:
            return await self._explorer(uri, position)

        self._server.command(IMPACT_COMMAND)(impact)
        self._server.command(EXPLORER_COMMAND)(explorer)

    def _note(self, text: str) -> None:
        """Show a message, from any thread."""
        show = self._server.window_show_message
        if self._loop is not None:
            self._loop.call_soon_threadsafe(show, types.ShowMessageParams(types.MessageType.Warning, text))

    # The life of the server and of its documents

    def _initialize(self, params: types.InitializeParams) -> None:
        self._loop = asyncio.get_running_loop()
        self._session.settings = self._session.settings.changed_by(params.initialization_options)

    def _shutdown(self, _: None) -> None:
        for task in self._publishing.values():
            task.cancel()
        self._session.close()

    def _opened(self, params: types.DidOpenTextDocumentParams) -> None:
        self._publish_after(0, params.text_document.uri)

    def _changed(self, params: types.DidChangeTextDocumentParams) -> None:
        self._publish_after(_DEBOUNCE_SECONDS, params.text_document.uri)

    def _saved(self, params: types.DidSaveTextDocumentParams) -> None:
        uri = params.text_document.uri
        self._reading.pop(uri, None)  # the store may know more by now
        self._publish_after(0, uri)

    def _closed(self, params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        if (task := self._publishing.pop(uri, None)) is not None:
            task.cancel()
        for kept in (self._reading, self._wanted, self._last):
            kept.pop(uri, None)
        self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def _publish_after(self, seconds: float, uri: str) -> None:
        if (task := self._publishing.pop(uri, None)) is not None:
            task.cancel()
        self._publishing[uri] = asyncio.ensure_future(self._publish(seconds, uri))

    async def _publish(self, seconds: float, uri: str) -> None:
        await asyncio.sleep(seconds)
        version = self._server.workspace.get_text_document(uri).version
        try:
            analysis, positions = await self._analysis(uri)
            found = problems_of(analysis, positions)
        except Exception as error:  # noqa: BLE001  the only boundary of a task that nobody waits for
            logger.error("diagnostics: %s", kind_and_place(error))
            found = [failed_reading(kind_and_place(error))]
        if self._server.workspace.get_text_document(uri).version == version:
            self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))

    async def _analysis(self, uri: str) -> tuple[DocumentAnalysis, TextPositions]:
        """Return the analysis of a document's present text; all that wait for it share one."""
        text = self._server.workspace.get_text_document(uri).source
        known = self._reading.get(uri)
        if known is None or known[0] != text:
            if known is not None:
                known[1].cancel()

            def proceed() -> None:  # in the thread
                if self._wanted.get(uri, text) is not text:
                    raise asyncio.CancelledError

            self._wanted[uri] = text
            loop = asyncio.get_running_loop()
            reading = partial(self._session.analyze, text, _path_of(uri), proceed)
            known = self._reading[uri] = (text, loop.run_in_executor(self._readers, reading))
        analysis = await asyncio.shield(known[1])
        self._last[uri] = analysis
        return analysis, self._positions(analysis.text)

    def _positions(self, text: str) -> TextPositions:
        return TextPositions(text, self._server.workspace.position_encoding or types.PositionEncodingKind.Utf16)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """Return what work in a thread returns; its questions to the store end with the request."""
        limit = TimeLimit(_ANSWER_SECONDS)

        def limited() -> T:
            with time_limit(limit):
                return work()

        try:
            return await asyncio.get_running_loop().run_in_executor(self._askers, limited)
        except asyncio.CancelledError:
            limit.end()
            raise

    @contextlib.contextmanager
    def _guarded(self, what: str) -> Any:
        """Turn an error into one whose message quotes nothing."""
        try:
            yield
        except Exception as error:  # noqa: BLE001  the boundary of a request
            logger.error("%s: %s", what, kind_and_place(error))
            raise JsonRpcInternalError(f"{what} failed: {kind_and_place(error)}") from None

    # Requests

    async def _hover(self, params: types.HoverParams) -> types.Hover | None:
        with self._guarded("hover"):
            analysis, positions = await self._analysis(params.text_document.uri)
            return await self._in_thread(lambda: hover_at(self._session, analysis, positions, params.position))

    async def _definition(self, params: types.DefinitionParams) -> list[types.Location]:
        uri = params.text_document.uri
        with self._guarded("definition"):
            analysis, positions = await self._analysis(uri)
            roots = self._roots(uri)
            found = await self._in_thread(
                lambda: definitions_at(self._session, analysis, positions, params.position, roots)
            )
            return [self._location(uri, place) for place in found]

    def _location(self, uri: str, place: DefinitionPlace) -> types.Location:
        at = self._positions(place.text).range(place.span)
        return types.Location(place.path.absolute().as_uri() if place.path is not None else uri, at)

    async def _completion(self, params: types.CompletionParams) -> types.CompletionList:
        uri = params.text_document.uri
        with self._guarded("completion"):
            text = self._server.workspace.get_text_document(uri).source
            positions, last = self._positions(text), self._last.get(uri)
            return await self._in_thread(
                lambda: completion_at(self._session, text, _path_of(uri), positions, params.position, last)
            )

    async def _actions(self, params: types.CodeActionParams) -> list[types.CodeAction | types.Command]:
        uri = params.text_document.uri
        with self._guarded("code actions"):
            analysis, positions = await self._analysis(uri)
            return actions_at(analysis, positions, uri, params.range)

    async def _impact(self, uri: str, position: types.Position) -> dict[str, Any] | None:
        with self._guarded("impact"):
            analysis, positions = await self._analysis(uri)
            roots = self._roots(uri)
            preview = await self._in_thread(lambda: impact_at(self._session, analysis, positions, position, roots))
            if preview is None:
                return None
            if not self._session.settings.preview:
                self._server.window_show_message(types.ShowMessageParams(types.MessageType.Info, preview.summary))
            return preview.to_dict()

    async def _explorer(self, uri: str, position: types.Position) -> str | None:
        with self._guarded("explorer"):
            analysis, positions = await self._analysis(uri)
            address, why = await self._in_thread(
                lambda: explorer_address_at(self._session, analysis, positions, position)
            )
            if address is None:
                self._note(why)
                return None
            window = self._server.client_capabilities.window
            if window is not None and window.show_document is not None and window.show_document.support:
                self._server.window_show_document(types.ShowDocumentParams(address, external=True))
            return address

    def _roots(self, uri: str) -> list[Path]:
        """Return the folders that a name of a file may be relative to: of the workspace, and around the file."""
        folders = [_path_of(folder) for folder in self._server.workspace.folders]
        path = _path_of(uri)
        around = list(Path(path).parents)[:8] if path else []
        return list(dict.fromkeys([*(Path(folder) for folder in folders if folder), *around, Path.cwd()]))


def _path_of(uri: str) -> str:
    """Return the path of a file; empty for a document that is not saved."""
    return (to_fs_path(uri) or "") if uri.startswith("file:") else ""
