"""sqrt(int): see sqrt_int.lua."""
import timer



def sqrt(y, iterations):
    x = y // 2
    for _ in range(2, iterations + 1):
        x = (x + y // x) // 2
    return x


def run(iterations):
    timer.start()
    root = sqrt(1234567, iterations)
    timer.stop()
    return root
