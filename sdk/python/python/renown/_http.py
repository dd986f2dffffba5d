"""What every call to a server needs: the key, errors, time limits, retries, pages and events.

The methods themselves are made from the OpenAPI document, see `_api.py`.

What is tried again, at most `retries` times: a request that never reached the server; a reply of 429, or of 503 with the code
`overloaded`, which both say that nothing was done; and, where a repeat is harmless (GET, DELETE, or a POST with an idempotency
key), also other 503 and connections that broke. `Retry-After` is obeyed up to `retry_wait_max` seconds, beyond that the error is
raised at once with `retry_after` set. A `timeout` is that of one attempt: with its retries and the waits between them a call may
take several times as long.
"""

from __future__ import annotations

import asyncio
import json
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
# The server sends a comment every 15 seconds; a connection on which nothing comes for this long is dead.
STREAM_SILENCE_S = 60.0

_HttpT = TypeVar("_HttpT", bound="Http")
_AsyncHttpT = TypeVar("_AsyncHttpT", bound="AsyncHttp")


class RenownError(Exception):
    """A refusal of the server, or no answer at all.

    `code` is the machine code of the API, or `unreachable`, `timed_out` or `bad_reply` where no refusal of the API came back.
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
        what = f"{self.message} ({self.code}"
        if self.request_id is not None and self.code == "internal":
            what += f", request {self.request_id}"
        return what + ")"


def _error(
    kind: type[RenownError],
    message: str,
    code: str,
    status: int | None,
    request_id: str | None,
    retry_after: float | None,
) -> RenownError:
    """An error out of pickle."""
    return kind(message, code=code, status=status, request_id=request_id, retry_after=retry_after)


@dataclass(frozen=True)
class Request:
    """A request before it has a server."""

    method: str
    path: str
    query: Mapping[str, Any] | None = None
    # What has to be sent, also where it is None; and what is left out then.
    body: Mapping[str, Any] | None = None
    optional: Mapping[str, Any] | None = None
    idempotency_key: str | None = None
    text: bool = False

    @property
    def may_repeat(self) -> bool:
        return self.method != "POST" or self.idempotency_key is not None

    def parts(self) -> dict[str, Any]:
        """What httpx wants to know."""
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

    def at(self, cursor: str) -> Request:
        """The same for another page."""
        return Request(self.method, self.path, query={**(self.query or {}), "cursor": cursor})


@dataclass(frozen=True)
class StreamEvent:
    """Something that happened on the server: `score`, or `missed` where this listener was too slow."""

    event: str
    data: Any


def path(template: str, *values: str) -> str:
    """The path with its `{parts}` filled in, percent-encoded."""
    for value in values:
        before, _, rest = template.partition("{")
        template = before + quote(str(value), safe="") + rest.partition("}")[2]
    return template


def _query_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


@dataclass(frozen=True)
class _Policy:
    retries: int
    wait_max: float

    def after(self, request: Request, error: RenownError, reached: bool, attempt: int) -> float | None:
        """How long to wait before the next try; None if there is none."""
        if attempt >= self.retries:
            return None
        undone = not reached or error.status == 429 or error.code == "overloaded"
        again = undone or (request.may_repeat and (error.status is None or error.status == 503))
        if not again:
            return None
        wait = error.retry_after
        if wait is None:
            wait = min(0.2 * 2.0**attempt, self.wait_max) * random.uniform(0.5, 1.0)
        return wait if wait <= self.wait_max else None


def _no_answer(error: httpx.RequestError, base: str) -> tuple[RenownError, bool]:
    """The error to raise, and whether the request may have reached the server."""
    if not isinstance(error, httpx.TransportError):
        # A reply in an encoding that it does not have. To ask again would not help.
        return RenownError(f"{base}: a reply that cannot be read: {error}", code="bad_reply", status=200), True
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout):
        return RenownError(f"{base}: {error or 'no connection'}", code="unreachable"), False
    if isinstance(error, httpx.TimeoutException):
        return RenownError(f"{base}: no answer in time", code="timed_out"), True
    return RenownError(f"{base}: {error or type(error).__name__}", code="unreachable"), True


def _retry_after(response: httpx.Response) -> float | None:
    try:
        return max(0.0, float(response.headers["Retry-After"]))
    except (KeyError, ValueError):
        return None


def _refusal(response: httpx.Response) -> RenownError:
    request_id = response.headers.get("X-Request-Id")
    try:
        said = response.json()
        message, code = str(said["error"]), str(said["code"])
    except (ValueError, KeyError, TypeError):
        message, code = f"answered {response.status_code}: is this a server of Renown?", "bad_reply"
    return RenownError(
        message, code=code, status=response.status_code, request_id=request_id, retry_after=_retry_after(response)
    )


def _value(request: Request, response: httpx.Response) -> Any:
    if request.text:
        return response.text
    if not response.content:
        return None
    try:
        return response.json()
    except ValueError as error:
        message = "a reply that is no JSON: is this a server of Renown?"
        raise RenownError(message, code="bad_reply", status=response.status_code) from error


def _items(page: Any, field: str) -> list[Any]:
    items = page.get(field) if isinstance(page, dict) else None
    if not isinstance(items, list):
        message = f"a page without {field}: is this a server of Renown?"
        raise RenownError(message, code="bad_reply", status=200)
    return items


class _Lines:
    """Server-sent events out of lines."""

    def __init__(self) -> None:
        self._event, self._data = "message", list[str]()

    def take(self, line: str) -> StreamEvent | None:
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
    expected = "expected something like http://127.0.0.1:7070"
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
        # A key is never shown, not even a wrong one.
        raise ValueError(f"key: {len(key)} characters, not all of them visible ASCII as those of a key are")
    return key


class _Common:
    """What both kinds of client know."""

    def __init__(self, base_url: str, key: str | None, retries: int, retry_wait_max: float) -> None:
        self.base_url = _checked_url(base_url)
        self._key = _checked_key(key if key is not None else os.environ.get("RENOWN_KEY", ""))
        self._policy = _Policy(retries, retry_wait_max)

    def __repr__(self) -> str:
        # Without the key, which must not get into a log.
        return f"{type(self).__name__}({self.base_url!r})"

    def _settings(self, timeout: float) -> dict[str, Any]:
        headers = {"User-Agent": "renown-python", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        # A redirect would carry the key elsewhere.
        return {"base_url": self.base_url, "headers": headers, "timeout": timeout, "follow_redirects": False}


def _limit(timeout: float | None) -> dict[str, Any]:
    return {} if timeout is None else {"timeout": timeout}


class Http(_Common):
    """A connection to a server; `Client` has its methods. `timeout` limits each attempt, in seconds."""

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
        """Sends a request as it is, and returns the reply as it is. For what no method is there for."""
        request = self._client.build_request(method, "/", headers=dict(headers or {}), content=content)
        request.extensions = {**request.extensions, "target": target.encode()}
        return self._client.send(request)

    def _send(self, request: Request, timeout: float | None) -> Any:
        # What is wrong with the request itself is a mistake of the caller.
        attempt, parts = 0, request.parts()
        while True:
            reached = True
            try:
                response = self._client.request(**parts, **_limit(timeout))
                if response.is_success:
                    return _value(request, response)
                error = _refusal(response)
            except httpx.RequestError as failure:
                error, reached = _no_answer(failure, self.base_url)
                error.__cause__ = failure
            wait = self._policy.after(request, error, reached, attempt)
            if wait is None:
                raise error
            time.sleep(wait)
            attempt += 1

    def _pages(self, request: Request, field: str, timeout: float | None) -> Iterator[Any]:
        while True:
            page = self._send(request, timeout)
            yield from _items(page, field)
            cursor = page.get("next_cursor")
            if cursor is None:
                return
            request = request.at(cursor)

    def _events(self, request: Request, timeout: float | None) -> Iterator[StreamEvent]:
        limit = httpx.Timeout(timeout or DEFAULT_TIMEOUT_S, read=timeout or STREAM_SILENCE_S)
        lines, parts = _Lines(), request.parts()
        try:
            with self._client.stream(**parts, timeout=limit) as response:
                if not response.is_success:
                    response.read()
                    raise _refusal(response)
                for line in response.iter_lines():
                    event = lines.take(line)
                    if event is not None:
                        yield event
        except httpx.RequestError as failure:
            raise _no_answer(failure, self.base_url)[0] from failure


class AsyncHttp(_Common):
    """A connection to a server for `async` code; `AsyncClient` has its methods. `timeout` limits each attempt, in seconds."""

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
        """Sends a request as it is, and returns the reply as it is. For what no method is there for."""
        request = self._client.build_request(method, "/", headers=dict(headers or {}), content=content)
        request.extensions = {**request.extensions, "target": target.encode()}
        return await self._client.send(request)

    async def _send(self, request: Request, timeout: float | None) -> Any:
        # What is wrong with the request itself is a mistake of the caller.
        attempt, parts = 0, request.parts()
        while True:
            reached = True
            try:
                response = await self._client.request(**parts, **_limit(timeout))
                if response.is_success:
                    return _value(request, response)
                error = _refusal(response)
            except httpx.RequestError as failure:
                error, reached = _no_answer(failure, self.base_url)
                error.__cause__ = failure
            wait = self._policy.after(request, error, reached, attempt)
            if wait is None:
                raise error
            await asyncio.sleep(wait)
            attempt += 1

    async def _pages(self, request: Request, field: str, timeout: float | None) -> AsyncIterator[Any]:
        while True:
            page = await self._send(request, timeout)
            for item in _items(page, field):
                yield item
            cursor = page.get("next_cursor")
            if cursor is None:
                return
            request = request.at(cursor)

    async def _events(self, request: Request, timeout: float | None) -> AsyncIterator[StreamEvent]:
        limit = httpx.Timeout(timeout or DEFAULT_TIMEOUT_S, read=timeout or STREAM_SILENCE_S)
        lines, parts = _Lines(), request.parts()
        try:
            async with self._client.stream(**parts, timeout=limit) as response:
                if not response.is_success:
                    await response.aread()
                    raise _refusal(response)
                async for line in response.aiter_lines():
                    event = lines.take(line)
                    if event is not None:
                        yield event
        except httpx.RequestError as failure:
            raise _no_answer(failure, self.base_url)[0] from failure
