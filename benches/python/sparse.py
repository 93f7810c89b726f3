"""SparseMatMult(n, nonzeros, repeats): see sparse.lua."""
from array import array

import timer
from lehmer import Random


def multiply(result, n, values, columns, first, vector):
    for i in range(n):
        total = 0.0
        for k in range(first[i], first[i + 1]):
            total = total + vector[columns[k]] * values[k]
        result[i] = total


def run(n, nonzeros, repeats):
    random = Random(40404)
    per_row = nonzeros // n
    vector = array("d", [random.real() for _ in range(n)])
    result = array("d", [0.0]) * n
    values, columns, first = array("d"), array("l"), array("l")
    for i in range(n):
        first.append(i * per_row)
        step = max(1, (i + 1) // per_row)
        for k in range(per_row):
            values.append(random.real())
            columns.append(k * step % n)
    first.append(n * per_row)
    timer.start()
    for _ in range(repeats):
        multiply(result, n, values, columns, first, vector)
    timer.stop()
    total = 0.0
    for i in range(1, n + 1):
        total = total + result[i - 1] * (i % 6 + 1)
    return total
