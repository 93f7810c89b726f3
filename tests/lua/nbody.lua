-- Records with float fields that are read and written in nested loops.
local bodies = {
  { x = 0.0, y = 0.0, vx = 0.0, vy = 0.0, m = 10.0 },
  { x = 5.0, y = 0.0, vx = 0.0, vy = 1.4, m = 1.0 },
  { x = 0, y = 8, vx = -1.1, vy = 0, m = 0.5 },
}
for step = 1, 60 do
  for i = 1, 3 do
    local a = bodies[i]
    for j = i + 1, 3 do
      local b = bodies[j]
      local dx, dy = a.x - b.x, a.y - b.y
      local d2 = dx * dx + dy * dy
      local mag = 0.01 / (d2 * d2 ^ 0.5)
      a.vx = a.vx - dx * b.m * mag
      a.vy = a.vy - dy * b.m * mag
      b.vx = b.vx + dx * a.m * mag
      b.vy = b.vy + dy * a.m * mag
    end
  end
  for i = 1, 3 do
    local b = bodies[i]
    b.x = b.x + 0.01 * b.vx
    b.y = b.y + 0.01 * b.vy
  end
end
for i = 1, 3 do local b = bodies[i]; print(string.format("%.12f %.12f %.12f %.12f", b.x, b.y, b.vx, b.vy)) end
