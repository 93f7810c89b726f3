"""LU(n, repeats): see lu.lua."""
from array import array

import timer
from lehmer import Random


def factor(matrix, pivots, n):
    for j in range(n):
        best, size = j, abs(matrix[j][j])
        for i in range(j + 1, n):
            candidate = abs(matrix[i][j])
            if candidate > size:
                best, size = i, candidate
        pivots[j] = best
        if size == 0.0:
            raise ValueError("the matrix is singular")
        if best != j:
            matrix[j], matrix[best] = matrix[best], matrix[j]
        inverse = 1.0 / matrix[j][j]
        for i in range(j + 1, n):
            matrix[i][j] = matrix[i][j] * inverse
        pivot_row = matrix[j]
        for i in range(j + 1, n):
            row = matrix[i]
            multiple = row[j]
            for k in range(j + 1, n):
                row[k] = row[k] - multiple * pivot_row[k]


def run(n, repeats):
    random = Random(20202)
    original = [array("d", [random.real() for _ in range(n)]) for _ in range(n)]
    matrix = [array("d", [0.0]) * n for _ in range(n)]
    pivots = [0] * n
    timer.start()
    for _ in range(repeats):
        for i in range(n):
            matrix[i][:] = original[i]
        factor(matrix, pivots, n)
    timer.stop()
    total = 0.0
    for i in range(n):
        total = total + matrix[i][i] * (i + 1) + (pivots[i] + 1) % 3
    return total
