-- Matrices as objects with operators: sums, products, powers, determinants, inverses, linear systems.
-- m[i] is a row, m:name() a method, m(i, j) an element.

local Matrix = {}
local methods = {}

local function is_matrix(x)
    return getmetatable(x) == Matrix
end

local function new(rows, cols, f)
    local data = {}
    for i = 1, rows do
        local row = {}
        for j = 1, cols do
            row[j] = f and f(i, j) or 0
        end
        data[i] = row
    end
    return setmetatable({ data = data, nrows = rows, ncols = cols }, Matrix)
end

local function identity(n)
    return new(n, n, function(i, j) return i == j and 1 or 0 end)
end

function Matrix.__index(self, key)
    if type(key) == "number" then
        return rawget(self, "data")[key]
    end
    return methods[key]
end

function Matrix.__call(self, i, j)
    return self.data[i][j]
end

function Matrix.__add(a, b)
    assert(a.nrows == b.nrows and a.ncols == b.ncols, "sizes differ")
    return new(a.nrows, a.ncols, function(i, j) return a[i][j] + b[i][j] end)
end

function Matrix.__sub(a, b)
    assert(a.nrows == b.nrows and a.ncols == b.ncols, "sizes differ")
    return new(a.nrows, a.ncols, function(i, j) return a[i][j] - b[i][j] end)
end

function Matrix.__unm(a)
    return a * -1
end

function Matrix.__mul(a, b)
    if type(a) == "number" then a, b = b, a end
    if type(b) == "number" then
        return new(a.nrows, a.ncols, function(i, j) return a[i][j] * b end)
    end
    assert(is_matrix(a) and is_matrix(b), "no matrix")
    assert(a.ncols == b.nrows, "sizes do not fit")
    local result = new(a.nrows, b.ncols)
    for i = 1, a.nrows do
        local row, out = a[i], result[i]
        for j = 1, b.ncols do
            local sum = 0
            for k = 1, a.ncols do
                sum = sum + row[k] * b[k][j]
            end
            out[j] = sum
        end
    end
    return result
end

function Matrix.__pow(a, n)
    if n == 0 then return identity(a.nrows) end
    if n % 2 == 1 then return a * a ^ (n - 1) end
    local half = a ^ (n / 2)
    return half * half
end

function Matrix.__eq(a, b)
    if a.nrows ~= b.nrows or a.ncols ~= b.ncols then return false end
    for i = 1, a.nrows do
        for j = 1, a.ncols do
            if a[i][j] ~= b[i][j] then return false end
        end
    end
    return true
end

function Matrix.__tostring(a)
    local lines = {}
    for i = 1, a.nrows do
        local cells = {}
        for j = 1, a.ncols do
            cells[j] = string.format("%9.4f", a[i][j])
        end
        lines[i] = table.concat(cells, " ")
    end
    return table.concat(lines, "\n")
end

function methods:copy()
    return new(self.nrows, self.ncols, function(i, j) return self[i][j] end)
end

function methods:transpose()
    return new(self.ncols, self.nrows, function(i, j) return self[j][i] end)
end

function methods:trace()
    local sum = 0
    for i = 1, self.nrows do sum = sum + self(i, i) end
    return sum
end

function methods:norm()
    local sum = 0
    for i = 1, self.nrows do
        for j = 1, self.ncols do
            sum = sum + self(i, j) ^ 2
        end
    end
    return math.sqrt(sum)
end

function methods:swap_rows(i, j)
    local data = self.data
    data[i], data[j] = data[j], data[i]
end

function methods:pivot(column)
    local best = column
    for i = column + 1, self.nrows do
        if math.abs(self[i][column]) > math.abs(self[best][column]) then best = i end
    end
    return best
end

function methods:determinant()
    local m, det = self:copy(), 1
    for k = 1, m.nrows do
        local p = m:pivot(k)
        if m(p, k) == 0 then return 0 end
        if p ~= k then
            m:swap_rows(p, k)
            det = -det
        end
        local top = m[k]
        det = det * top[k]
        for i = k + 1, m.nrows do
            local row = m[i]
            local factor = row[k] / top[k]
            if factor ~= 0 then
                for j = k + 1, m.ncols do
                    row[j] = row[j] - factor * top[j]
                end
            end
        end
    end
    return det
end

-- Laplace's expansion, for small matrices.
function methods:minor(row, col)
    return new(self.nrows - 1, self.ncols - 1, function(i, j)
        return self[i < row and i or i + 1][j < col and j or j + 1]
    end)
end

function methods:expand()
    if self.nrows == 1 then return self(1, 1) end
    local sum, sign = 0, 1
    for j = 1, self.ncols do
        if self(1, j) ~= 0 then
            sum = sum + sign * self(1, j) * self:minor(1, j):expand()
        end
        sign = -sign
    end
    return sum
end

function methods:inverse()
    local n = self.nrows
    local left, right = self:copy(), identity(n)
    for k = 1, n do
        local p = left:pivot(k)
        if left(p, k) == 0 then return nil, "singular" end
        left:swap_rows(p, k)
        right:swap_rows(p, k)
        local scale = 1 / left(k, k)
        for j = 1, n do
            left[k][j] = left[k][j] * scale
            right[k][j] = right[k][j] * scale
        end
        for i = 1, n do
            local factor = left(i, k)
            if i ~= k and factor ~= 0 then
                for j = 1, n do
                    left[i][j] = left[i][j] - factor * left[k][j]
                    right[i][j] = right[i][j] - factor * right[k][j]
                end
            end
        end
    end
    return right
end

local state = 4711
local function random()
    state = (state * 69069 + 1) % 4294967296
    return state / 4294967296
end

local function random_matrix(n)
    return new(n, n, function(i, j)
        -- A third of the elements is zero, the diagonal is large.
        local r = random()
        if r < 0.33 then r = 0 end
        return i == j and r + 3 or r - 0.3
    end)
end

-- Inverses of all sizes.
local worst, dets = 0, 0
for n = 2, 35 do
    local m = random_matrix(n)
    local error = (m * m:inverse() - identity(n)):norm()
    if error > worst then worst = error end
    dets = dets + math.log(math.abs(m:determinant()))
end
print(string.format("inverses good: %s, log of determinants %.8f", tostring(worst < 1e-10), dets))

-- Whole numbers: Fibonacci, expansions against elimination.
local fib = new(2, 2, function(i, j) return i + j < 4 and 1 or 0 end) ^ 60
print(string.format("fib %.0f, trace %.0f", fib(1, 2), fib:trace()))
local agree, singular = 0, 0
for _ = 1, 25 do
    local m = new(5, 5, function() return math.floor(random() * 5) - 2 end)
    local a, b = m:expand(), m:determinant()
    if math.abs(a - b) < 1e-6 then agree = agree + 1 end
    if a == 0 then singular = singular + 1 end
end
print(string.format("agree %d, singular %d", agree, singular))

-- Turning a cloud of points by many small rotations.
local function rotation(axis, angle)
    local c, s = math.cos(angle), math.sin(angle)
    local m = identity(4)
    local i, j = axis % 3 + 1, (axis + 1) % 3 + 1
    m[i][i], m[i][j], m[j][i], m[j][j] = c, -s, s, c
    return m
end
local cloud = new(4, 10, function(i) return i == 4 and 1 or random() * 2 - 1 end)
local before = cloud:norm()
for step = 1, 1000 do
    cloud = rotation(step % 3 + 1, step / 100) * cloud
end
print(string.format("cloud %.8f, norm kept: %s", cloud(1, 3) + cloud(2, 7), tostring(math.abs(cloud:norm() - before) < 1e-9)))

-- A Markov chain: rows of positive weights, made to sum to one, taken to a high power.
local chain = new(20, 20, function() return random() + 0.01 end)
for i = 1, 20 do
    local sum = 0
    for j = 1, 20 do sum = sum + chain(i, j) end
    for j = 1, 20 do chain[i][j] = chain[i][j] / sum end
end
local limit = chain ^ 64
print(string.format("chain settles: %s, %.10f", tostring((limit - limit * chain):norm() < 1e-12), limit(7, 3)))

-- Symmetric parts, sums and differences.
local total = new(16, 16)
for round = 1, 60 do
    local m = random_matrix(16)
    local even, odd = (m + m:transpose()) * 0.5, 0.5 * (m - m:transpose())
    total = total + even * odd - odd * even
    assert((even + odd - m):norm() < 1e-12)
end
print(string.format("commutators symmetric: %s, %.8f", tostring((total - total:transpose()):norm() < 1e-9), total(3, 5)))
print(random_matrix(4) == random_matrix(4), (-identity(2)) ^ 3 == identity(2) * -1)
print(tostring(random_matrix(3):inverse()))
