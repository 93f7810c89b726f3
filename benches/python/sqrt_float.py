"""sqrt(float): Newton's iteration; sqrt_fix16.py uses the same function, as the paper does."""
import timer



def sqrt(y, iterations):
    x = y / 2
    for _ in range(2, iterations + 1):
        x = (x + y / x) / 2
    return x


def run(iterations):
    timer.start()
    root = sqrt(123.0, iterations)
    timer.stop()
    return root
