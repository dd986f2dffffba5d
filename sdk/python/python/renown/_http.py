"""The HTTP transport of the clients: key, errors, timeouts, retries, pages and events.

The methods for the routes are generated from the OpenAPI document into `_api.py`.

These failures are retried, at most `retries` times:

- a request that did not reach the server;
- status 429, and status 503 with the code `overloaded`: both mean that the server did nothing;
- for requests that are safe to repeat (GET, DELETE, and POST with an idempotency key), also any other 503 and a broken
  connection.

`Retry-After` is obeyed up to `retry_wait_max` seconds. If the server asks for a longer wait, the error is raised
immediately, with `retry_after` set. A `timeout` limits one attempt; a call with its retries and the waits between
them can take several times as long.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote

import httpx

DEFAULT_SERVER = "http://127.0.0.1:7070"
DEFAULT_TIMEOUT_S = 30.0
# The server sends a comment every 15 seconds, so a stream that is silent for this long is dead.
STREAM_SILENCE_S = 60.0

_HttpT = TypeVar("_HttpT", bound="Http")
_AsyncHttpT = TypeVar("_AsyncHttpT", bound="AsyncHttp")


class RenownError(Exception):
    """Raised for an error reply of the server, and for a missing or unreadable reply.

    `code` is the machine code of the API, or `unreachable`, `timed_out` or `bad_reply` if there was no error reply of
    the API. `status` is the HTTP status, `request_id` identifies the request in the log of the server, and
    `retry_after` is the number of seconds that the server asked to wait.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status
        self.request_id = request_id
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[Any, ...]:
        return _error, (type(self), self.message, self.code, self.status, self.request_id, self.retry_after)

    def __str__(self) -> str:
        text = f"{self.message} ({self.code}"
        if self.request_id is not None and self.code == "internal":
            text += f", request {self.request_id}"
        return text + ")"


def _error(
    kind: type[RenownError],
    message: str,
    code: str,
    status: int | None,
    request_id: str | None,
    retry_after: float | None,
) -> RenownError:
    """Unpickles a `RenownError`. Pickles refer to this function by name."""
    return kind(message, code=code, status=status, request_id=request_id, retry_after=retry_after)


@dataclass(frozen=True)
class Request:
    """A request that is not yet bound to a server."""

    method: str
    path: str
    query: Mapping[str, Any] | None = None
    # Fields that are always sent, `None` as null.
    body: Mapping[str, Any] | None = None
    # Fields that are left out if `None`.
    optional: Mapping[str, Any] | None = None
    idempotency_key: str | None = None
    text: bool = False

    @property
    def may_repeat(self) -> bool:
        return self.method != "POST" or self.idempotency_key is not None

    def parts(self) -> dict[str, Any]:
        """Returns the arguments for `httpx.Client.request`. Raises `ValueError` for an invalid request."""
        headers = {}
        if self.idempotency_key is not None:
            if not (self.idempotency_key.isascii() and self.idempotency_key.isprintable()):
                raise ValueError(f"idempotency_key: {self.idempotency_key!r}, expected printable ASCII characters")
            headers["Idempotency-Key"] = self.idempotency_key
        query = {name: _query_value(value) for name, value in (self.query or {}).items() if value is not None}
        parts: dict[str, Any] = {"method": self.method, "url": self.path, "headers": headers, "params": query}
        if self.body is not None:
            optional = {name: value for name, value in (self.optional or {}).items() if value is not None}
            text = json.dumps({**self.body, **optional}, allow_nan=False, separators=(",", ":"))
            parts["content"] = text.encode()
            headers["Content-Type"] = "application/json"
        return parts

    def with_cursor(self, cursor: str) -> Request:
        """Returns the request for another page."""
        return Request(self.method, self.path, query={**(self.query or {}), "cursor": cursor})


@dataclass(frozen=True)
class StreamEvent:
    """A server-sent event: `score`, or `missed` if this client read too slowly and lost events."""

    event: str
    data: Any


def path(template: str, *values: str) -> str:
    """Replaces the `{parts}` of a path template with percent-encoded values."""
    for value in values:
        before, _, rest = template.partition("{")
        name, _, after = rest.partition("}")
        # A URL library would resolve dots as steps in the path, and then ask for something else.
        if str(value) in ("", ".", ".."):
            raise ValueError(f"{name}: {value!r}, expected a name")
        template = before + quote(str(value), safe="") + after
    return template


def _query_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


@dataclass(frozen=True)
class _RetryPolicy:
    retries: int
    wait_max: float

    def wait_after(self, request: Request, error: RenownError, maybe_received: bool, attempt: int) -> float | None:
        """Returns the seconds to wait before the next attempt, or `None` if the request must not be retried."""
        if attempt >= self.retries:
            return None
        not_processed = not maybe_received or error.status == 429 or error.code == "overloaded"
        may_retry = not_processed or (request.may_repeat and (error.status is None or error.status == 503))
        if not may_retry:
            return None
        wait = error.retry_after
        if wait is None:
            wait = min(0.2 * 2.0**attempt, self.wait_max) * random.uniform(0.5, 1.0)
        return wait if wait <= self.wait_max else None


def _no_reply(error: httpx.RequestError, base: str) -> tuple[RenownError, bool]:
    """Returns the error to raise, and whether the server may have received the request."""
    if not isinstance(error, httpx.TransportError):
        # The body does not match its Content-Encoding. A retry would not help.
        return RenownError(f"{base}: cannot decode the reply: {error}", code="bad_reply", status=200), True
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout):
        return RenownError(f"{base}: {error or 'cannot connect'}", code="unreachable"), False
    if isinstance(error, httpx.TimeoutException):
        return RenownError(f"{base}: no reply in time", code="timed_out"), True
    return RenownError(f"{base}: {error or type(error).__name__}", code="unreachable"), True


def _retry_after(response: httpx.Response) -> float | None:
    try:
        seconds = float(response.headers["Retry-After"])
    except (KeyError, ValueError):
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _error_reply(response: httpx.Response) -> RenownError:
    request_id = response.headers.get("X-Request-Id")
    try:
        body = response.json()
        message, code = str(body["error"]), str(body["code"])
    except (ValueError, KeyError, TypeError):
        message, code = f"status {response.status_code} without an error body: is this a Renown server?", "bad_reply"
    return RenownError(
        message, code=code, status=response.status_code, request_id=request_id, retry_after=_retry_after(response)
    )


def _body(request: Request, response: httpx.Response) -> Any:
    if request.text:
        return response.text
    if not response.content:
        return None
    try:
        return response.json()
    except ValueError as error:
        message = "the reply is not JSON: is this a Renown server?"
        raise RenownError(message, code="bad_reply", status=response.status_code) from error


def _page(request: Request, page: Any, field: str) -> tuple[list[Any], Request | None]:
    """Returns the items of a page, and the request for the next page, or `None` on the last one."""
    items = page.get(field) if isinstance(page, dict) else None
    if not isinstance(items, list):
        message = f"the page has no {field}: is this a Renown server?"
        raise RenownError(message, code="bad_reply", status=200)
    cursor = page.get("next_cursor")
    if cursor is not None and cursor == (request.query or {}).get("cursor"):
        raise RenownError(f"the page of {field} repeats its cursor, so it would never end", code="bad_reply", status=200)
    return items, None if cursor is None else request.with_cursor(cursor)


class _EventParser:
    """Parses server-sent events from lines."""

    def __init__(self) -> None:
        self._event, self._data = "message", list[str]()

    def feed(self, line: str) -> StreamEvent | None:
        """Adds a line. Returns the event that it completes, if any."""
        if not line:
            event, data = self._event, self._data
            self._event, self._data = "message", []
            return StreamEvent(event, _decoded("\n".join(data))) if data else None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)
        return None


def _decoded(data: str) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return data


def _checked_url(url: str) -> str:
    expected = "expected a URL such as http://127.0.0.1:7070"
    try:
        parts = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ValueError(f"base_url: {url!r}, {expected}: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.host or not 0 < (parts.port or 80) <= 65535:
        raise ValueError(f"base_url: {url!r}, {expected}")
    return url.rstrip("/")


def _checked_key(key: str) -> str:
    key = key.strip()
    if not all("!" <= letter <= "~" for letter in key):
        # An error must never show a key, not even an invalid one.
        raise ValueError(f"key: {len(key)} characters, expected only visible ASCII characters")
    return key


class _ClientBase:
    """The settings that the sync and the async client share."""

    def __init__(self, base_url: str, key: str | None, retries: int, retry_wait_max: float) -> None:
        self.base_url = _checked_url(base_url)
        self._key = _checked_key(key if key is not None else os.environ.get("RENOWN_KEY", ""))
        self._retry_policy = _RetryPolicy(retries, retry_wait_max)

    def __repr__(self) -> str:
        # Without the key, which must not end up in logs.
        return f"{type(self).__name__}({self.base_url!r})"

    def _settings(self, timeout: float) -> dict[str, Any]:
        headers = {"User-Agent": "renown-python", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        # Following a redirect would send the key to another server.
        return {"base_url": self.base_url, "headers": headers, "timeout": timeout, "follow_redirects": False}


def _timeout_argument(timeout: float | None) -> dict[str, Any]:
    return {} if timeout is None else {"timeout": timeout}


class Http(_ClientBase):
    """The sync transport. `Client` adds one method per route.

    :param base_url: The address of the server.
    :param key: The API key. Default: the environment variable `RENOWN_KEY`.
    :param timeout: Time limit of each attempt, in seconds.
    :param retries: Maximum number of retries of a call.
    :param retry_wait_max: Maximum wait before a retry, in seconds.
    """

    def __init__(
        self,
        base_url: str = DEFAULT_SERVER,
        key: str | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT_S,
        retries: int = 2,
        retry_wait_max: float = 10.0,
    ) -> None:
        super().__init__(base_url, key, retries, retry_wait_max)
        self._client = httpx.Client(**self._settings(timeout))

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def __enter__(self: _HttpT) -> _HttpT:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def raw(
        self, method: str, target: str, *, headers: Mapping[str, str] | None = None, content: bytes | None = None
    ) -> httpx.Response:
        """Sends a request and returns the reply, both unchanged. Use it for requests that no method covers."""
        request = self._client.build_request(method, "/", headers=dict(headers or {}), content=content)
        request.extensions = {**request.extensions, "target": target.encode()}
        return self._client.send(request)

    def _send(self, request: Request, timeout: float | None) -> Any:
        # Outside the loop: an invalid request is a mistake of the caller and is not retried.
        attempt, parts = 0, request.parts()
        while True:
            maybe_received = True
            try:
                response = self._client.request(**parts, **_timeout_argument(timeout))
                if response.is_success:
                    return _body(request, response)
                error = _error_reply(response)
            except httpx.RequestError as failure:
                error, maybe_received = _no_reply(failure, self.base_url)
                error.__cause__ = failure
            wait = self._retry_policy.wait_after(request, error, maybe_received, attempt)
            if wait is None:
                raise error
            time.sleep(wait)
            attempt += 1

    def _pages(self, request: Request, field: str, timeout: float | None) -> Iterator[Any]:
        while True:
            page = self._send(request, timeout)
            items, following = _page(request, page, field)
            yield from items
            if following is None:
                return
            request = following

    def _events(self, request: Request, timeout: float | None) -> Iterator[StreamEvent]:
        limit = httpx.Timeout(timeout or DEFAULT_TIMEOUT_S, read=timeout or STREAM_SILENCE_S)
        parser, parts = _EventParser(), request.parts()
        try:
            with self._client.stream(**parts, timeout=limit) as response:
                if not response.is_success:
                    response.read()
                    raise _error_reply(response)
                for line in response.iter_lines():
                    event = parser.feed(line)
                    if event is not None:
                        yield event
        except httpx.RequestError as failure:
            raise _no_reply(failure, self.base_url)[0] from failure


class AsyncHttp(_ClientBase):
    """The async transport. `AsyncClient` adds one method per route. The parameters are those of `Http`."""

    def __init__(
        self,
        base_url: str = DEFAULT_SERVER,
        key: str | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT_S,
        retries: int = 2,
        retry_wait_max: float = 10.0,
    ) -> None:
        super().__init__(base_url, key, retries, retry_wait_max)
        self._client = httpx.AsyncClient(**self._settings(timeout))

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.aclose()

    async def __aenter__(self: _AsyncHttpT) -> _AsyncHttpT:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def raw(
        self, method: str, target: str, *, headers: Mapping[str, str] | None = None, content: bytes | None = None
    ) -> httpx.Response:
        """Sends a request and returns the reply, both unchanged. Use it for requests that no method covers."""
        request = self._client.build_request(method, "/", headers=dict(headers or {}), content=content)
        request.extensions = {**request.extensions, "target": target.encode()}
        return await self._client.send(request)

    async def _send(self, request: Request, timeout: float | None) -> Any:
        # Outside the loop: an invalid request is a mistake of the caller and is not retried.
        attempt, parts = 0, request.parts()
        while True:
            maybe_received = True
            try:
                response = await self._client.request(**parts, **_timeout_argument(timeout))
                if response.is_success:
                    return _body(request, response)
                error = _error_reply(response)
            except httpx.RequestError as failure:
                error, maybe_received = _no_reply(failure, self.base_url)
                error.__cause__ = failure
            wait = self._retry_policy.wait_after(request, error, maybe_received, attempt)
            if wait is None:
                raise error
            await asyncio.sleep(wait)
            attempt += 1

    async def _pages(self, request: Request, field: str, timeout: float | None) -> AsyncIterator[Any]:
        while True:
            page = await self._send(request, timeout)
            items, following = _page(request, page, field)
            for item in items:
                yield item
            if following is None:
                return
            request = following

    async def _events(self, request: Request, timeout: float | None) -> AsyncIterator[StreamEvent]:
        limit = httpx.Timeout(timeout or DEFAULT_TIMEOUT_S, read=timeout or STREAM_SILENCE_S)
        parser, parts = _EventParser(), request.parts()
        try:
            async with self._client.stream(**parts, timeout=limit) as response:
                if not response.is_success:
                    await response.aread()
                    raise _error_reply(response)
                async for line in response.aiter_lines():
                    event = parser.feed(line)
                    if event is not None:
                        yield event
        except httpx.RequestError as failure:
            raise _no_reply(failure, self.base_url)[0] from failure
