"""An event loop in a thread of its own, so that plain code can use concurrent requests."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Awaitable, Coroutine
from typing import Any, TypeVar

from reviewer_tui.sources.github.errors import LoadCancelledError

T = TypeVar("T")
U = TypeVar("U")


class Background:
    """Runs coroutines for callers in other threads. The thread starts with the first of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._running: set[concurrent.futures.Future[Any]] = set()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine; whatever ends the wait (an interrupt too) ends the work. Raises
        LoadCancelledError after `cancel`. Never called from the loop's own thread, which it would block for ever."""
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("the event loop's own thread cannot wait for itself")
        future = asyncio.run_coroutine_threadsafe(work, self._started())
        with self._lock:
            self._running.add(future)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise LoadCancelledError from None
        finally:
            future.cancel()
            with self._lock:
                self._running.discard(future)

    def cancel(self) -> None:
        """End all work that is under way; may be called from any thread."""
        with self._lock:
            running = tuple(self._running)
        for future in running:
            future.cancel()

    def stop(self) -> None:
        """End the thread and what still runs in it."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_end_all_tasks(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="github", daemon=True)
                self._thread.start()
            return self._loop


async def together(*work: Awaitable[T]) -> list[T]:
    """The results of several awaitables that run at once. The first failure ends the others and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_as_coroutine(one)) for one in work]
    except BaseExceptionGroup as failures:
        raise _first(failures) from None
    return [task.result() for task in tasks]


async def both(first: Awaitable[T], second: Awaitable[U]) -> tuple[T, U]:
    """As `together`, for two results of different kinds."""
    results: list[Any] = await together(first, second)
    return results[0], results[1]


async def _as_coroutine(work: Awaitable[T]) -> T:
    return await work


def _first(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    first = failures.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first


async def _end_all_tasks() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_default_executor()
