--[[ Boxes and circles that move, bounce and are caught, in a world kept in a spatial hash.

A small 2-D collision library (world, filters, responses "slide", "bounce", "cross", "touch") and a game-like user of it:
balls, walkers that turn at walls, bullets that vanish, coins that are collected, walls that stay.
]]

local floor, min, max, sqrt, abs = math.floor, math.min, math.max, math.sqrt, math.abs

local function class(parent)
    local c = {}
    c.__index = c
    return setmetatable(c, {
        __index = parent,
        __call = function(self, ...)
            local object = setmetatable({}, self)
            object:init(...)
            return object
        end,
    })
end

-- ---------------------------------------------------------------- the world

local World = class()

function World:init(cellSize)
    self.cellSize = cellSize
    self.rows = {}
    self.items = {}
    self.count = 0
    self.checks = 0
end

function World:cellRange(x, y, w, h)
    local s = self.cellSize
    return floor(x / s), floor(y / s), floor((x + w) / s), floor((y + h) / s)
end

function World:eachCell(x, y, w, h, action)
    local left, top, right, bottom = self:cellRange(x, y, w, h)
    for cy = top, bottom do
        local row = self.rows[cy]
        if not row then
            row = {}
            self.rows[cy] = row
        end
        for cx = left, right do
            local cell = row[cx]
            if not cell then
                cell = { items = {}, n = 0 }
                row[cx] = cell
            end
            action(cell)
        end
    end
end

function World:add(item)
    self.count = self.count + 1
    self.items[#self.items + 1] = item
    item.order = self.count
    self:eachCell(item.x, item.y, item.w, item.h, function(cell)
        cell.n = cell.n + 1
        cell.items[cell.n] = item
    end)
    return item
end

local function removeFrom(cell, item)
    for i = 1, cell.n do
        if cell.items[i] == item then
            cell.items[i] = cell.items[cell.n]
            cell.items[cell.n] = nil
            cell.n = cell.n - 1
            return
        end
    end
end

function World:remove(item)
    self:eachCell(item.x, item.y, item.w, item.h, function(cell) removeFrom(cell, item) end)
    item.gone = true
end

function World:update(item, x, y)
    local l1, t1, r1, b1 = self:cellRange(item.x, item.y, item.w, item.h)
    local l2, t2, r2, b2 = self:cellRange(x, y, item.w, item.h)
    if l1 ~= l2 or t1 ~= t2 or r1 ~= r2 or b1 ~= b2 then
        self:eachCell(item.x, item.y, item.w, item.h, function(cell) removeFrom(cell, item) end)
        self:eachCell(x, y, item.w, item.h, function(cell)
            cell.n = cell.n + 1
            cell.items[cell.n] = item
        end)
    end
    item.x, item.y = x, y
end

function World:candidates(item, x, y)
    local left, top = min(item.x, x), min(item.y, y)
    local w, h = abs(item.x - x) + item.w, abs(item.y - y) + item.h
    local seen, list = { [item] = true }, {}
    local l, t, r, b = self:cellRange(left, top, w, h)
    for cy = t, b do
        local row = self.rows[cy]
        if row then
            for cx = l, r do
                local cell = row[cx]
                if cell and cell.n > 0 then
                    for i = 1, cell.n do
                        local other = cell.items[i]
                        if not seen[other] then
                            seen[other] = true
                            list[#list + 1] = other
                        end
                    end
                end
            end
        end
    end
    return list
end

-- Liang-Barsky against the other box grown by the size of this one. Gives time and normal, or nothing.
local function sweep(item, other, dx, dy)
    local x, y = other.x - item.x - item.w, other.y - item.y - item.h
    local w, h = other.w + item.w, other.h + item.h
    if x < 0 and x + w > 0 and y < 0 and y + h > 0 then
        -- Already one in the other: out by the shortest way.
        local px = -x < x + w and x or x + w
        local py = -y < y + h and y or y + h
        if abs(px) < abs(py) then return 0, px < 0 and -1 or 1, 0, px, 0 end
        return 0, 0, py < 0 and -1 or 1, 0, py
    end
    local enter, leave, nx, ny = -math.huge, math.huge, 0, 0
    for side = 1, 2 do
        local d, near, far
        if side == 1 then d, near, far = dx, x, x + w else d, near, far = dy, y, y + h end
        if d == 0 then
            if near >= 0 or far <= 0 then return nil end
        else
            local t1, t2 = near / d, far / d
            if t1 > t2 then t1, t2 = t2, t1 end
            if t1 > enter then
                enter = t1
                if side == 1 then nx, ny = d > 0 and -1 or 1, 0 else nx, ny = 0, d > 0 and -1 or 1 end
            end
            leave = min(leave, t2)
        end
    end
    if enter < 0 or enter > 1 or enter >= leave then return nil end
    return enter, nx, ny
end

local responses = {}

function responses.touch(_, item, c) return c.x, c.y end
function responses.cross(_, item, c, gx, gy) return gx, gy end
function responses.slide(_, item, c, gx, gy)
    if c.nx ~= 0 then return c.x, gy end
    return gx, c.y
end
function responses.bounce(_, item, c, gx, gy)
    if c.nx ~= 0 then
        item.vx = -item.vx
        return 2 * c.x - gx, gy
    end
    item.vy = -item.vy
    return gx, 2 * c.y - gy
end

function World:move(item, goalX, goalY)
    local collisions = {}
    local visited = {}
    for _ = 1, 4 do
        local dx, dy = goalX - item.x, goalY - item.y
        local first
        for _, other in ipairs(self:candidates(item, goalX, goalY)) do
            if not visited[other] and not other.gone then
                local kind = item:filter(other)
                if kind then
                    self.checks = self.checks + 1
                    local t, nx, ny, px, py = sweep(item, other, dx, dy)
                    if t and item:overlaps(other, dx * t, dy * t) then
                        if not first or t < first.t or (t == first.t and other.order < first.other.order) then
                            first = { t = t, nx = nx, ny = ny, other = other, kind = kind,
                                x = item.x + (px or dx * t), y = item.y + (py or dy * t) }
                        end
                    end
                end
            end
        end
        if not first then break end
        visited[first.other] = true
        collisions[#collisions + 1] = first
        goalX, goalY = responses[first.kind](self, item, first, goalX, goalY)
    end
    self:update(item, goalX, goalY)
    return collisions
end

-- ---------------------------------------------------------------- things

local Thing = class()
Thing.kind = "thing"
function Thing:init(x, y, w, h)
    self.x, self.y, self.w, self.h = x, y, w, h
    self.vx, self.vy = 0, 0
    self.hits = 0
end
function Thing:filter(other) return "touch" end
function Thing:overlaps() return true end
function Thing:step(world, dt)
    for _, c in ipairs(world:move(self, self.x + self.vx * dt, self.y + self.vy * dt)) do
        self.hits = self.hits + 1
        self:hit(c, world)
    end
end
function Thing:hit() end

local Wall = class(Thing)
Wall.kind = "wall"
function Wall:step() end

local Coin = class(Thing)
Coin.kind = "coin"
function Coin:step() end

local Ball = class(Thing)
Ball.kind = "ball"
function Ball:init(x, y, r, vx, vy)
    Thing.init(self, x, y, 2 * r, 2 * r)
    self.r, self.vx, self.vy = r, vx, vy
end
function Ball:filter(other)
    if other.kind == "coin" then return "cross" end
    return other.kind ~= "bullet" and "bounce"
end
-- Two balls touch when they do as circles.
function Ball:overlaps(other, dx, dy)
    if not other.r then return true end
    local x = self.x + dx + self.r - other.x - other.r
    local y = self.y + dy + self.r - other.y - other.r
    return sqrt(x * x + y * y) <= self.r + other.r + 1.5
end
function Ball:hit(c, world)
    if c.other.kind == "coin" and self.r > 5 then world:remove(c.other) end
end

local Walker = class(Thing)
Walker.kind = "walker"
Walker.coins, Walker.shots = 0, 0
function Walker:filter(other)
    if other.kind == "coin" then return "cross" end
    return other.kind == "ball" and "touch" or other.kind ~= "bullet" and "slide"
end
function Walker:step(world, dt)
    self.vy = min(self.vy + 60 * dt, 90)
    Thing.step(self, world, dt)
end
function Walker:hit(c, world)
    if c.other.kind == "coin" then
        self.coins = self.coins + 1
        world:remove(c.other)
    elseif c.ny < 0 then
        self.vy = self.hits % 7 == 0 and -70 or 0
    elseif c.nx ~= 0 then
        self.vx = -self.vx
    end
end

local Bullet = class(Thing)
Bullet.kind = "bullet"
function Bullet:init(owner)
    Thing.init(self, owner.x + owner.w / 2, owner.y + 2, 2, 1)
    self.vx, self.owner = owner.vx * 6, owner
end
function Bullet:filter(other)
    return other ~= self.owner and other.kind ~= "coin" and "touch"
end
function Bullet:hit(c, world)
    if c.other.kind == "walker" then c.other.vx = -c.other.vx * 0.9 - 1 end
    if not self.gone then world:remove(self) end
end

-- ---------------------------------------------------------------- the game

local seed = 90210
local function random(n)
    seed = seed * 16807 % 2147483647
    return seed % n + 1
end

local function play(width, height, frames)
    local world = World(32)
    world:add(Wall(0, 0, width, 16))
    world:add(Wall(0, height - 16, width, 16))
    world:add(Wall(0, 16, 16, height - 32))
    world:add(Wall(width - 16, 16, 16, height - 32))
    for _ = 1, 30 do
        world:add(Wall(random(width - 120), 40 + 48 * random(floor(height / 48) - 2), 20 + random(90), 10))
    end
    for _ = 1, 60 do world:add(Coin(20 + random(width - 60), 20 + random(height - 60), 6, 6)) end
    for _ = 1, 40 do
        world:add(Ball(20 + random(width - 80), 20 + random(height - 80), 2 + random(6), random(200) - 100, random(200) - 100))
    end
    for _ = 1, 25 do
        local walker = world:add(Walker(20 + random(width - 80), 20 + random(height - 80), 10, 20))
        walker.vx = random(2) == 1 and 35 or -35
    end
    for frame = 1, frames do
        local items, kept = world.items, {}
        for _, item in ipairs(items) do
            if not item.gone then item:step(world, 1 / 30) end
        end
        for _, item in ipairs(items) do
            if not item.gone then
                kept[#kept + 1] = item
            end
        end
        world.items = kept
        if frame % 3 == 0 then
            for _, item in ipairs(kept) do
                if item.kind == "walker" and random(12) == 1 then
                    item.shots = item.shots + 1
                    world:add(Bullet(item))
                end
            end
        end
    end
    local by = {}
    local hits, coins, shots, energy = 0, 0, 0, 0
    for _, item in ipairs(world.items) do
        by[item.kind] = (by[item.kind] or 0) + 1
        hits = hits + item.hits
        coins = coins + (item.coins or 0)
        shots = shots + (item.shots or 0)
        energy = energy + item.vx * item.vx + item.vy * item.vy
    end
    print(("%dx%d: balls %d walkers %d coins left %d bullets %d | hits %d coins %d shots %d checks %d energy %.6f"):format(
        width, height, by.ball, by.walker, by.coin or 0, by.bullet or 0, hits, coins, shots, world.checks, energy))
end

play(640, 480, 800)
play(400, 400, 700)
play(1200, 700, 1000)
