"""Ends this process at the first socket that could leave this machine, whoever opens it.

Python's own sockets pass an audit hook; those of native libraries do not, so under Linux the kernel refuses them too (seccomp). Both
end the process instead of raising: an error might be caught by whoever opened the socket. Sockets between local processes
(AF_UNIX) and of the kernel are let pass.
"""

from __future__ import annotations

import ctypes
import os
import platform
import socket
import struct
import sys

SAW_A_SOCKET = 97
"""Exit status after one of Python's sockets; the kernel ends the process with SIGSYS after a native one."""

_EVENTS = ("socket.__new__", "socket.connect", "socket.getaddrinfo", "socket.gethostbyname")
_SOCKET_CALL = {"x86_64": 41, "aarch64": 198}
_IPV4, _IPV6 = 2, 10

_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _FILTER = 22, 38, 2
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _KILL_PROCESS = 0x7FFF0000, 0x80000000
_NUMBER_OFFSET, _FAMILY_OFFSET = 0, 16


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def forbid_sockets() -> bool:
    """Forbid them for the rest of this process; whether the kernel watches native libraries as well."""
    sys.addaudithook(_end_at_socket)
    return _seal_natively()


def _end_at_socket(event: str, details: tuple[object, ...]) -> None:
    if event in _EVENTS and not _is_local(event, details):
        os.write(2, f"{event} {details}\n".encode("utf-8", "replace"))
        os._exit(SAW_A_SOCKET)


def _is_local(event: str, details: tuple[object, ...]) -> bool:
    """Whether a socket is made or connected that leads to processes of this machine alone: a keyring is asked through one."""
    if event not in ("socket.__new__", "socket.connect"):
        return False
    family = details[1] if event == "socket.__new__" else getattr(details[0], "family", None)
    return family is not None and family == getattr(socket, "AF_UNIX", None)


def _seal_natively() -> bool:
    number = _SOCKET_CALL.get(platform.machine())
    if sys.platform != "linux" or number is None:
        return False
    program = _filter(number)
    buffer = ctypes.create_string_buffer(program, len(program))
    rules = _Program(len(program) // 8, ctypes.cast(buffer, ctypes.c_void_p).value)
    libc = ctypes.CDLL(None)
    unprivileged = libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    return unprivileged and bool(libc.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.byref(rules), 0, 0) == 0)


def _filter(socket_call: int) -> bytes:
    """BPF: a socket() of family IPv4 or IPv6 kills the process, everything else is allowed."""
    return b"".join(
        struct.pack("HBBI", *instruction)
        for instruction in (
            (_LOAD, 0, 0, _NUMBER_OFFSET),
            (_JUMP_IF_EQUAL, 0, 4, socket_call),
            (_LOAD, 0, 0, _FAMILY_OFFSET),
            (_JUMP_IF_EQUAL, 1, 0, _IPV4),
            (_JUMP_IF_EQUAL, 0, 1, _IPV6),
            (_RETURN, 0, 0, _KILL_PROCESS),
            (_RETURN, 0, 0, _ALLOW),
        )
    )
