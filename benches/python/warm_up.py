"""Does a piece of work again and again in one process: warm_up.py LIMIT LEAST MOST row PROGRAM ARGUMENTS...

The protocol is that of warm_up.lua: calls until LIMIT seconds of processor time are gone, but LEAST at least
and MOST at most; in the end a line for each call on standard error, and the check value.
"""
import importlib
import sys
from time import process_time

import timer

try:
    import pypyjit
    # The images' loops make longer traces than PyPy's default allows.
    pypyjit.set_param("trace_limit=16384")
except ImportError:
    pass


def main():
    limit, least, most, name = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[5]
    arguments = [int(argument) for argument in sys.argv[6:]]
    run = importlib.import_module(name).run
    check, ends, seconds = None, [], []
    while len(ends) < most and (len(ends) < least or ends[-1] < limit):
        value = run(*arguments)
        if check is not None and check != value:
            sys.exit("another check value than in the call before")
        check = value
        seconds.append(timer.seconds)
        ends.append(process_time())
    for end, spent in zip(ends, seconds):
        sys.stderr.write("call %.6f %.6f\n" % (end, spent))
    sys.stderr.write("check %.17g\n" % check)


main()
