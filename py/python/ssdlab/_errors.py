"""Exceptions with the words and exit codes of the program `ssdlab`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from ._results import Run


class Error(Exception):
    """The base of every error of this package.

    `reason` is a stable word for scripts, `exit_code` the code with which the program would end, and
    `run` the run whose measured part was kept, or `None` if there is none.
    """

    exit_code: ClassVar[int] = 4

    def __init__(self, message: str, reason: str = "error") -> None:
        super().__init__(message)
        self.reason = reason
        self.run: Run | None = None

    def __reduce__(self) -> tuple[type[Error], tuple[str, str]]:
        return type(self), (str(self), self.reason)


class UsageError(Error, ValueError):
    """An argument cannot be used; the message names it and the expected value."""

    exit_code = 2


class RefusedError(Error):
    """The run could destroy something that the call did not confirm; nothing was changed."""

    exit_code = 3


class DeviceError(Error, OSError):
    """The device, the file system or the operating system failed."""

    exit_code = 4

    def __init__(self, message: str, reason: str = "device") -> None:
        super().__init__(message, reason)

    def __str__(self) -> str:
        return str(self.args[0])


class UnsupportedError(Error):
    """This machine or target cannot do it."""

    exit_code = 5


class InterruptedRun(Error):
    """The run was stopped; its measured part is kept."""

    exit_code = 130


_BY_CODE: dict[int, type[Error]] = {
    kind.exit_code: kind
    for kind in (UsageError, RefusedError, DeviceError, UnsupportedError, InterruptedRun)
}


def exception(message: str, reason: str, exit_code: int) -> Error:
    """The exception of an exit code; the compiled part calls this."""
    return _BY_CODE.get(exit_code, Error)(message, reason)
