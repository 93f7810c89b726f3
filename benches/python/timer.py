"""The part of a benchmark that is timed: what lies between 'start' and 'stop', in processor time."""
from time import process_time

started = 0.0
seconds = 0.0


def start():
    global started
    started = process_time()


def stop():
    global seconds
    seconds = process_time() - started
