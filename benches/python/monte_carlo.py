"""MonteCarlo(samples): see monte_carlo.lua."""
import timer
from lehmer import Random

MODULUS = 2147483647
LONG, SHORT = 17, 5


class Generator:
    def __init__(self, seed):
        random = Random(seed)
        self.state = [random.integer() for _ in range(LONG)]
        self.i = LONG - 1
        self.j = SHORT - 1

    def next(self):
        state, i, j = self.state, self.i, self.j
        number = state[i] - state[j]
        if number < 0:
            number += MODULUS
        state[i] = number
        self.i = LONG - 1 if i == 0 else i - 1
        self.j = LONG - 1 if j == 0 else j - 1
        return number / MODULUS


def run(samples):
    generator = Generator(113)
    inside = 0
    timer.start()
    for _ in range(samples):
        x = generator.next()
        y = generator.next()
        if x * x + y * y <= 1.0:
            inside += 1
    timer.stop()
    return 4.0 * inside / samples
