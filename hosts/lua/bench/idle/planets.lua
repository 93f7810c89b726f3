-- Floats in fields of records: bodies that attract one another.
local bodies = {}
for i = 1, 5 do
  bodies[i] = { x = i * 1.5, y = (i * i) % 7 + 0.25, z = 4.0 / i, vx = 0.01 * i, vy = -0.02 * i, vz = 0.003, mass = 1.0 / i }
end
local function advance(dt)
  for i = 1, #bodies do
    local a = bodies[i]
    for j = i + 1, #bodies do
      local b = bodies[j]
      local dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z
      local square = dx * dx + dy * dy + dz * dz + 0.01
      local force = dt / (square * square ^ 0.5)
      a.vx, a.vy, a.vz = a.vx - dx * b.mass * force, a.vy - dy * b.mass * force, a.vz - dz * b.mass * force
      b.vx, b.vy, b.vz = b.vx + dx * a.mass * force, b.vy + dy * a.mass * force, b.vz + dz * a.mass * force
    end
  end
  for _, body in ipairs(bodies) do
    body.x, body.y, body.z = body.x + dt * body.vx, body.y + dt * body.vy, body.z + dt * body.vz
  end
end
for _ = 1, 120000 do advance(0.001) end
print(string.format("%.9f %.9f", bodies[1].x, bodies[5].vz))
