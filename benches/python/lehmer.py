"""The data of all benchmarks: Lehmer's generator, multiplier 16807, modulus 2^31 - 1, as in random.lua."""


class Random:
    def __init__(self, seed):
        self.state = seed

    def integer(self):
        self.state = self.state * 16807 % 2147483647
        return self.state

    def real(self):
        return self.integer() / 2147483647.0
