from __future__ import annotations

import socket
import threading
from contextlib import contextmanager

import httpcore2
import pytest

from indexer.transport.dial import Dialer, until


@contextmanager
def listening():
    server = socket.create_server(("127.0.0.1", 0))
    try:
        yield server, server.getsockname()[1]
    finally:
        server.close()


class Names:
    """A resolver that says something else each time (DNS rebinding)."""

    def __init__(self, *turns):
        self.turns, self.asked = list(turns), 0

    def __call__(self, host, port):
        self.asked += 1
        return self.turns.pop(0)


class Backend(httpcore2.SyncBackend):
    """Notes where a connection would go, and goes nowhere."""

    def __init__(self, refuse=()):
        self.went, self.refuse = [], refuse

    def connect_tcp(self, host, port, timeout=None, local_address=None, socket_options=None):
        self.went.append(host)
        if host in self.refuse:
            raise httpcore2.ConnectError("refused")
        return httpcore2.NetworkStream()


def dialler(names, **how):
    dials = Dialer(lookup=names)
    dials._backend = Backend(**how)
    return dials


def test_the_address_that_was_checked_is_the_one_connected_to():
    names = Names(["140.82.121.6"], ["127.0.0.1"])
    dials = dialler(names)
    dials.connect_tcp("api.github.com", 443, 1)
    assert (dials._backend.went, names.asked) == (["140.82.121.6"], 1)
    with pytest.raises(httpcore2.ConnectError, match="no public address"):
        dials.connect_tcp("api.github.com", 443, 1)
    assert dials._backend.went == ["140.82.121.6"]


def test_private_addresses_among_public_ones_are_passed_over_and_the_next_is_tried():
    dials = dialler(Names(["10.0.0.1", "140.82.121.5", "140.82.121.6"]), refuse=("140.82.121.5",))
    dials.connect_tcp("api.github.com", 443, 1)
    assert dials._backend.went == ["140.82.121.5", "140.82.121.6"]


def test_a_mirror_is_connected_to_as_configured_and_only_there():
    with listening() as (_, port):
        Dialer(("127.0.0.1", port)).connect_tcp("127.0.0.1", port, 1).close()
        with pytest.raises(httpcore2.ConnectError):
            Dialer(("127.0.0.1", port + 1)).connect_tcp("127.0.0.1", port, 1)


def test_a_resolver_that_does_not_answer_is_given_up():
    stuck = threading.Event()
    dials = Dialer(lookup=lambda host, port: stuck.wait() and [])
    with pytest.raises(httpcore2.ConnectTimeout):
        dials.connect_tcp("api.github.com", 443, 0.05)
    stuck.set()


def test_reading_ends_at_the_deadline_however_often_bytes_come():
    with listening() as (server, port):
        stream = Dialer(("127.0.0.1", port)).connect_tcp("127.0.0.1", port, 1)
        peer, over = server.accept()[0], threading.Event()

        def drip():
            while not over.wait(0.01):
                peer.sendall(b"x")

        thread = threading.Thread(target=drip)
        thread.start()
        with until(0.1), pytest.raises(httpcore2.ReadTimeout):
            list(iter(lambda: stream.read(1, 30), b""))
        over.set()
        thread.join()
        peer.close()
        stream.close()


def test_nothing_is_begun_after_the_deadline():
    with until(-1), pytest.raises(httpcore2.ConnectTimeout):
        Dialer(("127.0.0.1", 9)).connect_tcp("127.0.0.1", 9, 30)
