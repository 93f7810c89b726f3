"""sqrt(Fix16): see sqrt_fix16.lua."""
import timer
from sqrt_float import sqrt


class Fix16:
    def __init__(self, bits):
        self.bits = bits

    def __add__(self, other):
        return Fix16(self.bits + fix16(other).bits)

    def __truediv__(self, other):
        return Fix16((self.bits << 16) // fix16(other).bits)


def from_number(number):
    return Fix16(number << 16)


def fix16(value):
    """Operands may be plain integers."""
    if isinstance(value, Fix16):
        return value
    return from_number(value)


def run(iterations):
    timer.start()
    root = sqrt(from_number(123), iterations)
    timer.stop()
    return root.bits / 65536
