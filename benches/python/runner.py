"""Times a benchmark: runner.py PROGRAM WARMUPS CALLS LIMIT ARGUMENTS...

The protocol is that of runner.lua: a warm-up, then at most CALLS samples, each of one call or of several short
ones, fewer once LIMIT seconds of processor time are gone; a warm-up call that takes longer than LIMIT is the only call
("cold").
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

# Some systems' processor clocks tick only every few milliseconds.
SHORTEST = 0.1
# Seconds of warm-up at least, if there is any: some compilers take no more than a share of the time for themselves.
WARM = 0.3


def main():
    name, warmups, calls, limit = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    arguments = [int(argument) for argument in sys.argv[5:]]
    run = importlib.import_module(name).run
    check, spent, is_cold = None, 0.0, False

    def timed_call():
        nonlocal check, spent
        before = process_time()
        check = run(*arguments)
        spent += process_time() - before
        return timer.seconds

    def sample():
        seconds, count = 0.0, 0
        while True:
            seconds += timed_call()
            count += 1
            if seconds >= SHORTEST or spent >= limit:
                return seconds / count

    warm = 0
    while warmups > 0 and not is_cold and (warm < warmups or spent < min(WARM, limit)):
        before = spent
        seconds = timed_call()
        is_cold = spent - before > limit
        print("%s %.17g" % ("cold" if is_cold else "warm", seconds))
        warm += 1
    if not is_cold:
        spent = 0.0
        for _ in range(calls):
            print("time %.17g" % sample())
            if spent >= limit:
                break
    print("check %.17g" % check)


main()
