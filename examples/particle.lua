-- A particle in a spring's field; its state is a new record in each step, with a vector in it.
--
--     tracelift run --stats examples/particle.lua 1000000
local steps = tonumber(arg and arg[1]) or 1000000

local state = { at = { x = 1.0, y = 0.0 }, vx = 0.0, vy = 0.5 }
local dt = 0.001
for _ = 1, steps do
  local at = state.at
  local vx = state.vx - at.x * dt
  local vy = state.vy - at.y * dt
  state = { at = { x = at.x + vx * dt, y = at.y + vy * dt }, vx = vx, vy = vy }
end
print(string.format("%.6f %.6f", state.at.x, state.at.y))
