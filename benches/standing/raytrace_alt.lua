-- The scene of raytrace.lua by closures and plain numbers: a thing is a function that answers rays,
-- a vector is three locals or three places of an array; no metatables.

local sqrt, floor = math.sqrt, math.floor
local EPSILON = 1e-6

local function clamp(x, limit)
    if x < limit then return x end
    return limit
end

local function unit(x, y, z)
    local s = 1 / sqrt(x * x + y * y + z * z)
    return x * s, y * s, z * s
end

local function dot(ax, ay, az, bx, by, bz)
    return ax * bx + ay * by + az * bz
end

local function reflect(x, y, z, nx, ny, nz)
    local s = 2 * dot(x, y, z, nx, ny, nz)
    return x - nx * s, y - ny * s, z - nz * s
end

-- Each maker returns a record of three closures: hit, normal and color.
local function sphere(center, radius, color)
    local cx, cy, cz = center[1], center[2], center[3]
    local function hit(ox, oy, oz, dx, dy, dz)
        local tx, ty, tz = cx - ox, cy - oy, cz - oz
        local b = dot(tx, ty, tz, dx, dy, dz)
        local d = b * b - dot(tx, ty, tz, tx, ty, tz) + radius * radius
        if d >= 0 then
            d = sqrt(d)
            if b - d > EPSILON then
                return b - d
            elseif b + d > EPSILON then
                return b + d
            end
        end
    end
    local function normal(x, y, z)
        local s = 1 / radius
        return (x - cx) * s, (y - cy) * s, (z - cz) * s
    end
    return { hit = hit, normal = normal, color = function() return color end }
end

local function chessboard(height, even, odd)
    return {
        hit = function(_, oy, _, _, dy, _)
            if dy <= -EPSILON then
                local t = (height - oy) / dy
                if t > EPSILON then return t end
            end
        end,
        normal = function() return 0, 1, 0 end,
        color = function(x, _, z)
            return (floor(x) + floor(z)) % 2 == 0 and even or odd
        end,
    }
end

local function box(low, high, color)
    -- Narrows the part of the ray between two planes; nil: the ray passes by.
    local function slab(near, far, lo, hi, o, d)
        if d == 0 then
            if o < lo or o > hi then return nil end
            return near, far
        end
        local t1, t2 = (lo - o) / d, (hi - o) / d
        if t1 > t2 then t1, t2 = t2, t1 end
        return t1 > near and t1 or near, t2 < far and t2 or far
    end
    local function hit(ox, oy, oz, dx, dy, dz)
        local near, far = slab(-math.huge, math.huge, low[1], high[1], ox, dx)
        if near then near, far = slab(near, far, low[2], high[2], oy, dy) end
        if near then near, far = slab(near, far, low[3], high[3], oz, dz) end
        if not near or near > far or far < EPSILON then return nil end
        return near > EPSILON and near or far
    end
    local function normal(...)
        local point = { ... }
        for i = 1, 3 do
            local side
            if math.abs(point[i] - low[i]) < 1e-5 then
                side = -1
            elseif math.abs(point[i] - high[i]) < 1e-5 then
                side = 1
            end
            if side then
                local n = { 0, 0, 0 }
                n[i] = side
                return n[1], n[2], n[3]
            end
        end
        return 0, 1, 0
    end
    return { hit = hit, normal = normal, color = function() return color end }
end

local function make_tracer(things, lights)
    local rays, shadows = 0, 0
    local trace

    local function nearest(ox, oy, oz, dx, dy, dz)
        rays = rays + 1
        local best, found = math.huge, nil
        local i = 1
        while i <= #things do
            local t = things[i].hit(ox, oy, oz, dx, dy, dz)
            if t and t < best then
                best, found = t, things[i]
            end
            i = i + 1
        end
        return found, best
    end

    local function is_dark(x, y, z, tx, ty, tz, distance)
        shadows = shadows + 1
        local i = 1
        while i <= #things do
            local t = things[i].hit(x, y, z, tx, ty, tz)
            if t and t < distance then return true end
            i = i + 1
        end
        return false
    end

    local function shade(thing, px, py, pz, dx, dy, dz, depth)
        local nx, ny, nz = thing.normal(px, py, pz)
        if dot(nx, ny, nz, dx, dy, dz) > 0 then nx, ny, nz = -nx, -ny, -nz end
        local c = thing.color(px, py, pz)
        local r, g, b = c[1] * 0.1, c[2] * 0.1, c[3] * 0.1
        local sx, sy, sz = px + nx * 1e-4, py + ny * 1e-4, pz + nz * 1e-4
        local i = 1
        while lights[i] do
            local light = lights[i]
            local tx, ty, tz = light[1] - sx, light[2] - sy, light[3] - sz
            local distance = sqrt(dot(tx, ty, tz, tx, ty, tz))
            local inverse = 1 / distance
            tx, ty, tz = tx * inverse, ty * inverse, tz * inverse
            local lambert = dot(tx, ty, tz, nx, ny, nz)
            if lambert > 0 and not is_dark(sx, sy, sz, tx, ty, tz, distance) then
                r = r + c[1] * light[4] * lambert
                g = g + c[2] * light[5] * lambert
                b = b + c[3] * light[6] * lambert
                local rx, ry, rz = reflect(tx, ty, tz, nx, ny, nz)
                local shine = dot(rx, ry, rz, dx, dy, dz)
                if shine > 0 and thing.gloss > 0 then
                    local s = shine * shine
                    s = s * s
                    s = s * s * thing.gloss
                    r, g, b = r + light[4] * s, g + light[5] * s, b + light[6] * s
                end
            end
            i = i + 1
        end
        local mirror = thing.mirror
        if mirror > 0 and depth < 4 then
            local rx, ry, rz = unit(reflect(dx, dy, dz, nx, ny, nz))
            local r2, g2, b2 = trace(sx, sy, sz, rx, ry, rz, depth + 1)
            local keep = 1 - mirror
            r, g, b = r * keep + r2 * mirror, g * keep + g2 * mirror, b * keep + b2 * mirror
        end
        return r, g, b
    end

    function trace(ox, oy, oz, dx, dy, dz, depth)
        local thing, t = nearest(ox, oy, oz, dx, dy, dz)
        if thing then
            return shade(thing, ox + dx * t, oy + dy * t, oz + dz * t, dx, dy, dz, depth)
        end
        return 0.3, 0.4, 0.5 + 0.5 * (dy > 0 and dy or 0)
    end

    return trace, function() return rays, shadows end
end

local function camera(eye, target, width, height)
    local fx, fy, fz = unit(target[1] - eye[1], target[2] - eye[2], target[3] - eye[3])
    local rx, ry, rz = unit(fy * 0 - fz * 1, fz * 0 - fx * 0, fx * 1 - fy * 0)
    local ux, uy, uz = ry * fz - rz * fy, rz * fx - rx * fz, rx * fy - ry * fx
    return function(column, row)
        local u = ((column + 0.5) / width * 2 - 1) * 0.8
        local v = (1 - (row + 0.5) / height * 2) * 0.6
        return unit(fx + rx * u + ux * v, fy + ry * u + uy * v, fz + rz * u + uz * v)
    end
end

local function generator(seed)
    return function()
        seed = (seed * 16807) % 2147483647
        return seed / 2147483647
    end
end

local random = generator(31)
local things = {}
local function add(thing, mirror, gloss)
    thing.mirror, thing.gloss = mirror, gloss
    things[#things + 1] = thing
end

add(chessboard(0, { 0.9, 0.9, 0.8 }, { 0.2, 0.3, 0.2 }), 0.15, 0)
add(sphere({ 0, 1.2, 0 }, 1.2, { 0.9, 0.9, 0.9 }), 0.7, 0.8)
local count = 1
while count <= 7 do
    local r = 0.2 + random() * 0.4
    local place = { random() * 6 - 3, r, random() * 6 - 3 }
    add(sphere(place, r, { random(), random(), random() }), count % 3 == 0 and 0.4 or 0, count % 2 * 0.5)
    count = count + 1
end
count = 1
while count <= 3 do
    local x, z = random() * 5 - 2.5, random() * 5 - 2.5
    add(box({ x, 0, z }, { x + 0.7, 0.4 + count * 0.3, z + 0.5 }, { random(), 0.5, random() }), 0, 0.2)
    count = count + 1
end

local trace, counts = make_tracer(things, { { 5, 6, -5, 0.7, 0.7, 0.6 }, { -6, 4, -3, 0.3, 0.3, 0.4 } })
local WIDTH, HEIGHT = 240, 144
local eye = { 1.5, 2.5, -6 }
local ray = camera(eye, { 0, 0.8, 0 }, WIDTH, HEIGHT)
local shades = { " ", ".", ":", "-", "=", "+", "*", "#", "%", "@" }
local a, b, total = 1, 0, 0

local function add_byte(x)
    local byte = floor(clamp(x, 1) * 255)
    total = total + byte
    a = (a + byte) % 65521
    b = (b + a) % 65521
end

local row = 0
while row < HEIGHT do
    local line = ""
    local column = 0
    while column < WIDTH do
        local dx, dy, dz = ray(column, row)
        local red, green, blue = trace(eye[1], eye[2], eye[3], dx, dy, dz, 0)
        add_byte(red)
        add_byte(green)
        add_byte(blue)
        if column % 3 == 0 then line = line .. shades[floor(clamp(green, 0.99) * 10) + 1] end
        column = column + 1
    end
    if row % 12 == 0 then print(line) end
    row = row + 1
end
local rays, shadows = counts()
print(string.format("sum %d, check %d:%d, rays %d, shadow rays %d", total, a, b, rays, shadows))
