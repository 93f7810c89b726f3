"""A two-dimensional array: row-major, indexed from 0, with bounds checks, as array2d.lua."""
from array import array


class Array2D:
    def __init__(self, width, height):
        self.width = width
        self.height = height
        self.data = array("d", [0.0]) * (width * height)

    def __getitem__(self, place):
        x, y = place
        if x < 0 or x >= self.width or y < 0 or y >= self.height:
            raise IndexError("index out of bounds")
        return self.data[y * self.width + x]

    def __setitem__(self, place, value):
        x, y = place
        if x < 0 or x >= self.width or y < 0 or y >= self.height:
            raise IndexError("index out of bounds")
        self.data[y * self.width + x] = value

    def fill(self, source):
        for y in range(self.height):
            for x in range(self.width):
                self[x, y] = source()

    def checksum(self):
        """A sum in which each place counts differently."""
        total = 0.0
        for y in range(self.height):
            for x in range(self.width):
                total = total + self[x, y] * ((x + 3 * y) % 7 + 1)
        return total
