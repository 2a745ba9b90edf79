"""Starts a program that finds its auxiliary vector in /proc only.

Valgrind before 3.22 passes prctl(PR_GET_AUXV) on to the kernel, whose answer names a vDSO that does
not exist under Valgrind. A filter answers EINVAL, and the program reads the file, which Valgrind
provides.
"""

import ctypes
import os
import struct
import sys

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 22, 38
SECCOMP_MODE_FILTER = 2
PRCTL, PR_GET_AUXV, EINVAL = 157, 0x41555856, 22
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERROR = 0x7FFF0000, 0x00050000


class Program(ctypes.Structure):
    """The `sock_fprog` of seccomp(2)."""

    _fields_ = [("length", ctypes.c_ushort), ("lines", ctypes.c_void_p)]


lines = [
    (LOAD, 0, 0, 0),
    (EQUAL, 0, 3, PRCTL),
    (LOAD, 0, 0, 16),
    (EQUAL, 0, 1, PR_GET_AUXV),
    (RETURN, 0, 0, ERROR | EINVAL),
    (RETURN, 0, 0, ALLOW),
]
text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
program = Program(len(lines), ctypes.addressof(text))
libc = ctypes.CDLL(None, use_errno=True)
for call in [
    (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
    (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0),
]:
    if libc.prctl(*call) != 0:
        sys.exit(f"prctl {call[0]}: {os.strerror(ctypes.get_errno())}")
os.execvp(sys.argv[1], sys.argv[1:])
