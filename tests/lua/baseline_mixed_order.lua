-- Integers and floats compared with one another, where a float can be the integer and where it cannot: in
-- functions that have baseline code.

local big = 1 << 53
local integers = {
  0, 1, -1, 7, big - 1, big, big + 1, big + 2, -big + 1, -big, -big - 1, -big - 2,
  math.maxinteger, math.maxinteger - 1, math.mininteger, math.mininteger + 1, 1 << 62, -(1 << 62),
}
local floats = {
  0.0, -0.0, 0.5, -0.5, 1.0, 7.25, 2.0^53, 2.0^53 - 1, 2.0^53 + 2, -2.0^53, -2.0^53 - 2, -2.0^53 + 1,
  2.0^62, -2.0^62, 2.0^63, -2.0^63, 2.0^64, -2.0^64, 1 / 0, -1 / 0, 0 / 0, 1e-300, 1e300,
}

local function less(a, b) if a < b then return 1 end return 0 end
local function at_most(a, b) if a <= b then return 1 end return 0 end
local function more(a, b) if not (a <= b) then return 1 end return 0 end
local function at_least(a, b) return (a >= b) and 1 or 0 end

for _, order in ipairs { less, at_most, more, at_least } do
  local rows = {}
  for round = 1, 3 do
    for n, i in ipairs(integers) do
      local row = {}
      for m, f in ipairs(floats) do
        row[m] = order(i, f) .. order(f, i)
      end
      rows[n] = table.concat(row, " ")
    end
  end
  print(table.concat(rows, "\n"))
end

-- What is no number still has its error, at its line.
print(pcall(less, 1, "2"))
print(pcall(at_most, 1.5, {}))
local ordered = setmetatable({}, { __lt = function(a, b) return b == 2.5 end, __le = function() return false end })
print(less(ordered, 2.5), less(ordered, 2), at_most(3, ordered))
