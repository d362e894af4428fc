"""How a command ends: every error, signal and closed pipe becomes an exit code and one clear message.

Exit codes are those of CONTRACTS: 0 done, 1 a bug, 2 wrong usage, 3 nothing found, 4 an upstream refused, 5 losses
under --strict, 6 the store is damaged, 130 interrupted. Under `--json` an error is one object on stdout as well.

A command that is told to stop unwinds; whatever has not ended a few seconds later (a request under way, a parser) is
left where it is, which the store is made for: it may be killed at any point.
"""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Any, NoReturn, TextIO

import typer

from api.cli import terminal
from lineage.errors import DiskFull, LineageError, UsageError
from lineage.text.hidden_text import harmless

GRACE = 3.0
"""Seconds from the first signal to the end, whatever is under way."""
MOST = 600
"""Characters of a line that are shown: it may hold what the user gave, however long. The reason stands at its end."""
_TEXTS = {"query", "search", "answer", "context", "facts"}
"""Commands whose argument is a text that need not stand in quotes."""
_RESUMES = "finished work is kept; run the same command again to resume"

_Refusal: Any = typer.BadParameter.__mro__[2]  # click's ClickException, which typer brings along under changing names


class Interrupted(LineageError):
    """Ctrl-C, or a signal that asks to stop."""

    exit_code = 130


def run(app: Callable[..., Any]) -> NoReturn:
    """Run the command of `sys.argv` and leave with its exit code."""
    _write_utf8()
    stop = _Stop()
    try:
        with _heard(stop):
            code = app(prog_name="lineage", standalone_mode=False)
            if code == Interrupted.exit_code:  # what typer makes of KeyboardInterrupt
                raise KeyboardInterrupt
            sys.exit(code or 0)
    except LineageError as error:
        fail(error)
    except KeyboardInterrupt:
        stop.end()
    except _Refusal as error:
        _refuse(error)
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            _bug(error)
        fail(DiskFull(f"no room left on the disk of {error.filename or 'the store'}", hint="free some space and run the same command again"))
    except Exception as error:  # noqa: BLE001 - the one place where a bug becomes an exit code
        _bug(error)


def show(text: str) -> None:
    """Print an answer made for people: on a terminal in color, its lines wrapped at words."""
    say(terminal.rendered(harmless(text), sys.stdout), exact=True)


def say(text: str, *, exact: bool = False) -> None:
    """Print the answer as it is; a reader who has had enough (`| head`) ends the command in peace.

    Nothing in it steers a terminal, whatever the papers and repositories hold; JSON, which programs read, is `exact`.
    """
    try:
        print(text if exact else harmless(text), flush=True)
    except BrokenPipeError:
        _say_no_more(sys.stdout)
        raise typer.Exit(0) from None
    except OSError as error:
        _say_no_more(sys.stdout)
        raise DiskFull(f"the answer cannot be written: {error.strerror}", hint="free some space and run the same command again") from error


def _say_no_more(stream: TextIO) -> None:
    """Drop unwritten output: the interpreter would try to write it again at exit and fail with another exit code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _say_of_error(text: str, stream: TextIO) -> None:
    """Print the message of an exit code, even if nobody reads it."""
    try:
        print(text, file=stream, flush=True)
    except OSError:
        _say_no_more(stream)


def fail(error: LineageError) -> NoReturn:
    """Say what went wrong and what to do about it, and leave with the error's exit code."""
    if "--json" in sys.argv:
        from api.wire.encode import error_envelope

        _say_of_error(error_envelope(error), sys.stdout)
    _tell(error)
    sys.exit(error.exit_code)


@contextmanager
def concluding() -> Iterator[None]:
    """For errors after the answer was printed: stdout already has its one object, so the error goes to stderr only."""
    try:
        yield
    except LineageError as error:
        _tell(error)
        raise typer.Exit(error.exit_code) from None


def _tell(error: LineageError) -> None:
    hints = (("    " + _line(line) if n else f"  {terminal.bold('hint:')} {_line(line)}") for n, line in enumerate(error.hint.splitlines()))
    text = "\n".join([f"{terminal.bad('error:')} {_line(str(error))}", *hints])
    _say_of_error(terminal.rendered(text, sys.stderr), sys.stderr)


def _line(text: str) -> str:
    """The text on one line, without control characters; of a very long one both ends."""
    line = terminal.one_line(text if len(text) <= 8 * MOST else text[: 4 * MOST] + text[-4 * MOST :])
    return line if len(line) <= MOST else f"{line[: MOST // 2]} … {line[-MOST // 2 :]}"


def _refuse(error: Any) -> NoReturn:
    """Report typer's usage errors in our own format; print help if no command was given."""
    context = error.ctx
    if type(error).__name__ == "NoArgsIsHelpError":
        print(error.format_message(), file=sys.stderr)
        sys.exit(2)
    path = context.command_path if context else "lineage"
    hint = f"{path} --help"
    if type(error).__name__ == "NoSuchOption" and path.rpartition(" ")[2] in _TEXTS:
        hint += "; put a text in quotes if a word of it begins with -"
    message = re.sub(r"(?:Value error, )?Input should be", "must be", error.format_message()).replace("Value error, ", "")
    fail(UsageError(message.rstrip("."), hint=hint))


def _bug(error: BaseException) -> NoReturn:
    traceback.print_exception(error, file=sys.stderr)
    fail(LineageError(f"a bug in lineage ({type(error).__name__}: {error})", hint="please report it with the lines above"))


class _Stop:
    """What a signal does: the first unwinds the command, a second or `GRACE` seconds end it at once."""

    told = False

    def __call__(self, *_: object) -> None:
        if self.told:
            self._leave()
        self.told = True
        timer = threading.Timer(GRACE, self._leave)
        timer.daemon = True
        timer.start()
        raise KeyboardInterrupt

    def _leave(self) -> NoReturn:
        shown = "\x1b[?25h\n" if os.isatty(2) else ""  # a live display hides the cursor
        os.write(2, f"{shown}error: interrupted\n  hint: {_RESUMES}\n".encode())
        os._exit(Interrupted.exit_code)

    def end(self) -> NoReturn:
        """Report the interruption and exit; after a signal, without waiting for running threads."""
        try:
            fail(Interrupted("interrupted", hint=_RESUMES))
        finally:
            if self.told:
                sys.stderr.flush()
                os._exit(Interrupted.exit_code)


@contextmanager
def _heard(stop: _Stop) -> Iterator[None]:
    """Treat SIGTERM and a lost terminal like Ctrl-C, unless they are ignored (`nohup`)."""
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers} if threading.current_thread() is threading.main_thread() else {}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            if not stop.told and signal.getsignal(number) is stop:  # a server that ends ignores what comes after
                signal.signal(number, handler)


def _write_utf8() -> None:
    """Write UTF-8 to pipes; characters that a terminal cannot show become question marks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")
