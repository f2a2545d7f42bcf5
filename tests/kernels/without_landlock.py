"""Runs a command as on a system that has no Landlock: without_landlock.py COMMAND..."""
import ctypes
import errno
import os
import sys

LANDLOCK_CREATE_RULESET = 444
NO_NEW_PRIVILEGES, SECCOMP, FILTER = 38, 22, 2
LOAD, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
REFUSE, ALLOW = 0x00050000, 0x7FFF0000


class Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint16), ("then", ctypes.c_uint8), ("otherwise", ctypes.c_uint8), ("value", ctypes.c_uint32)]


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("instructions", ctypes.c_void_p)]


steps = [(LOAD, 0, 0, 0), (IF_EQUAL, 0, 1, LANDLOCK_CREATE_RULESET), (RETURN, 0, 0, REFUSE | errno.ENOSYS), (RETURN, 0, 0, ALLOW)]
instructions = (Instruction * len(steps))(*(Instruction(*step) for step in steps))
system = ctypes.CDLL(None, use_errno=True)
done = system.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
if not done or system.prctl(SECCOMP, FILTER, ctypes.byref(Program(len(steps), ctypes.addressof(instructions)))) != 0:
    sys.exit(f"no filter: {os.strerror(ctypes.get_errno())}")
os.execvp(sys.argv[1], sys.argv[1:])
