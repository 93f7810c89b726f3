-- Objects from closures and from classes: a little object system (classes, inheritance, mixins, class methods, private
-- state in closures, properties by __index functions, operators) and a simulated pond that is built with it.

---------------------------------------------------------------- the object system

local Object = { name = "Object", methods = {}, __subclasses = {} }
Object.methods.class = Object

local metamethods = { "__add", "__sub", "__mul", "__eq", "__lt", "__le", "__tostring", "__call", "__len", "__concat" }

local function make_class(name, parent)
    local class = { name = name, parent = parent, methods = setmetatable({}, { __index = parent.methods }), getters = {} }
    class.methods.class = class
    setmetatable(class.getters, { __index = parent.getters })
    class.instance_meta = {
        __index = function(self, key)
            local method = class.methods[key]
            if method ~= nil then return method end
            local getter = class.getters[key]
            if getter then return getter(self) end
        end,
    }
    for _, event in ipairs(metamethods) do
        class.instance_meta[event] = parent.instance_meta and parent.instance_meta[event]
    end
    return setmetatable(class, {
        __index = parent,
        __newindex = function(_, key, value)
            if class.instance_meta and type(key) == "string" and key:sub(1, 2) == "__" then
                class.instance_meta[key] = value
            else
                class.methods[key] = value
            end
        end,
        __call = function(_, ...) return class:new(...) end,
        __tostring = function() return "class " .. name end,
    })
end

function Object.subclass(self, name)
    local class = make_class(name, self)
    self.__subclasses[#self.__subclasses + 1] = name
    return class
end

function Object.new(self, ...)
    local object = setmetatable({}, self.instance_meta)
    object:initialize(...)
    return object
end

function Object.include(self, mixin)
    for key, value in pairs(mixin) do
        if key ~= "included" then self[key] = value end
    end
    if mixin.included then mixin.included(self) end
    return self
end

function Object.methods.initialize() end
function Object.methods.is_a(self, class)
    local c = self.class
    while c do
        if c == class then return true end
        c = c.parent
    end
    return false
end

---------------------------------------------------------------- closures as objects

-- All state of a generator is private.
local function Random(seed)
    local self = {}
    function self.next(n)
        seed = seed * 16807 % 2147483647
        return seed % n + 1
    end
    function self.chance(percent) return self.next(100) <= percent end
    function self.pick(list) return list[self.next(#list)] end
    function self.fork() return Random(self.next(2147483646)) end
    return self
end

-- An account with a history; nobody else can change the balance.
local function Account(owner, balance)
    local history, frozen = {}, false
    local function note(what, amount) history[#history + 1] = what .. ":" .. amount end
    return {
        owner = function() return owner end,
        balance = function() return balance end,
        deposit = function(amount)
            balance = balance + amount
            note("in", amount)
        end,
        withdraw = function(amount)
            if frozen or amount > balance then return false end
            balance = balance - amount
            note("out", amount)
            return true
        end,
        freeze = function(on) frozen = on end,
        statement = function(n)
            local from = math.max(1, #history - n + 1)
            return table.concat(history, " ", from)
        end,
    }
end

-- The same interface with a limit below zero: a closure that inherits from another by a copy.
local function CreditAccount(owner, balance, limit)
    local base = Account(owner, balance)
    local self = setmetatable({}, { __index = base })
    local debt = 0
    function self.withdraw(amount)
        if base.withdraw(amount) then return true end
        if debt + amount > limit then return false end
        debt = debt + amount
        return true
    end
    function self.deposit(amount)
        local back = math.min(debt, amount)
        debt = debt - back
        if amount > back then base.deposit(amount - back) end
    end
    function self.balance() return base.balance() - debt end
    return self
end

---------------------------------------------------------------- the pond

local Vector = Object:subclass("Vector")
function Vector:initialize(x, y) self.x, self.y = x, y end
Vector.__add = function(a, b) return Vector(a.x + b.x, a.y + b.y) end
Vector.__sub = function(a, b) return Vector(a.x - b.x, a.y - b.y) end
Vector.__mul = function(a, k) return Vector(a.x * k, a.y * k) end
Vector.__eq = function(a, b) return a.x == b.x and a.y == b.y end
Vector.__tostring = function(v) return ("(%.2f, %.2f)"):format(v.x, v.y) end
Vector.getters.length = function(v) return math.sqrt(v.x * v.x + v.y * v.y) end
function Vector:clamp(size)
    return Vector(math.max(0, math.min(size, self.x)), math.max(0, math.min(size, self.y)))
end

local HasEnergy = {
    eat = function(self, amount)
        self.energy = self.energy + amount
        self.meals = (self.meals or 0) + 1
    end,
    tire = function(self, amount)
        self.energy = self.energy - amount
        if self.energy <= 0 then self:die("hunger") end
    end,
    included = function(class)
        class.getters.hungry = function(self) return self.energy < self.class.methods.appetite end
    end,
}

local Creature = Object:subclass("Creature")
Creature:include(HasEnergy)
Creature.appetite = 10
Creature.speed = 1
Creature.lifetime = 100
function Creature:initialize(pond, position)
    self.pond, self.position, self.age, self.energy = pond, position, 0, 12
    self.random = pond.random.fork()
end
function Creature:die(cause)
    if self.dead then return end
    self.dead = true
    self.pond:note(self.class.name .. " " .. cause)
end
function Creature:wander()
    local step = Vector(self.random.next(201) - 101, self.random.next(201) - 101) * (self.speed / 100)
    self.position = (self.position + step):clamp(self.pond.size)
end
function Creature:toward(other)
    local way = other.position - self.position
    local distance = way.length
    if distance > self.speed then way = way * (self.speed / distance) end
    self.position = self.position + way
    return distance <= self.speed
end
function Creature:live()
    self.age = self.age + 1
    self:tire(0.5)
    if self.age > self.lifetime and self.random.chance(10) then self:die("age") end
    if not self.dead then self:act() end
end
function Creature:act() self:wander() end
function Creature:split(class, cost)
    self.energy = self.energy - cost
    self.pond:add((class or self.class)(self.pond, self.position))
end
Creature.__tostring = function(c) return c.class.name .. " at " .. tostring(c.position) end

local Plant = Creature:subclass("Plant")
Plant.lifetime = 40
function Plant:act()
    self.energy = self.energy + 1
    if self.energy > 18 and #self.pond.creatures < 220 then
        self:split(nil, 6)
        self.pond.creatures[#self.pond.creatures]:wander()
    end
end
Plant.speed = 30

local Fish = Creature:subclass("Fish")
Fish.speed = 3
Fish.view = 30
Fish.prey = { Plant = true }
function Fish:sees(other) return self.prey[other.class.name] end
function Fish:nearest()
    local best, distance = nil, self.view * self.view
    for _, other in ipairs(self.pond.creatures) do
        if other ~= self and not other.dead and self:sees(other) then
            local dx, dy = other.position.x - self.position.x, other.position.y - self.position.y
            local d = dx * dx + dy * dy
            if d < distance then best, distance = other, d end
        end
    end
    return best
end
function Fish:act()
    local food = self.hungry and self:nearest()
    if food then
        if self:toward(food) then
            food:die("eaten")
            self:eat(6)
        end
    else
        self:wander()
    end
    if self.energy > 20 then self:split(nil, 8) end
end

local Pike = Fish:subclass("Pike")
Pike.speed = 4
Pike.view = 22
Pike.appetite = 8
Pike.lifetime = 160
Pike.prey = { Fish = true, Frog = true }
local fish_act = Fish.methods.act
function Pike:act()
    if self.age % 3 == 0 then self:tire(0.5) end
    if not self.dead then fish_act(self) end
end

local Frog = Fish:subclass("Frog")
Frog.prey = { Plant = true }
function Frog:initialize(...)
    Fish.methods.initialize(self, ...)
    local croaks = 0
    self.croak = function()
        croaks = croaks + 1
        return croaks
    end
end
function Frog:act()
    if self.random.chance(20) then self.pond.croaks = self.pond.croaks + self.croak() end
    Fish.methods.act(self)
end

local Pond = Object:subclass("Pond")
function Pond:initialize(size, seed)
    self.size, self.random, self.creatures, self.notes, self.croaks = size, Random(seed), {}, {}, 0
end
function Pond:place() return Vector(self.random.next(self.size), self.random.next(self.size)) end
function Pond:add(creature)
    self.creatures[#self.creatures + 1] = creature
    return creature
end
function Pond:note(text) self.notes[text] = (self.notes[text] or 0) + 1 end
function Pond:day()
    for i = 1, #self.creatures do
        local creature = self.creatures[i]
        if not creature.dead then creature:live() end
    end
    local alive = {}
    for _, creature in ipairs(self.creatures) do
        if not creature.dead then alive[#alive + 1] = creature end
    end
    self.creatures = alive
end
function Pond:stock(class, least)
    local count = 0
    for _, creature in ipairs(self.creatures) do
        if creature.class == class then count = count + 1 end
    end
    for _ = count + 1, least do self:add(class(self, self:place())) end
end
Pond.__len = function(self) return #self.creatures end
Pond.getters.census = function(self)
    local count = { Plant = 0, Fish = 0, Pike = 0, Frog = 0 }
    for _, creature in ipairs(self.creatures) do count[creature.class.name] = count[creature.class.name] + 1 end
    return ("plants %d fish %d pikes %d frogs %d"):format(count.Plant, count.Fish, count.Pike, count.Frog)
end

---------------------------------------------------------------- the work

for run = 1, 4 do
    local pond = Pond(100, 1000 + run * 77)
    for _ = 1, 120 do pond:add(Plant(pond, pond:place())) end
    for _ = 1, 25 do pond:add(Fish(pond, pond:place())) end
    for _ = 1, 15 do pond:add(Frog(pond, pond:place())) end
    for _ = 1, 4 do pond:add(Pike(pond, pond:place())) end
    for day = 1, 240 do
        pond:day()
        if day % 10 == 0 then
            pond:stock(Fish, 14)
            pond:stock(Frog, 9)
            pond:stock(Pike, 3)
            pond:stock(Plant, 40)
        end
        if day % 80 == 0 then print(run, day, pond.census) end
    end
    local total = Vector(0, 0)
    for _, creature in ipairs(pond.creatures) do total = total + creature.position end
    local causes = {}
    for text, count in pairs(pond.notes) do causes[#causes + 1] = text .. " " .. count end
    table.sort(causes)
    print(table.concat(causes, ", "), "croaks", ("%d"):format(pond.croaks), tostring(total))
    local first = pond.creatures[1]
    if first then print(tostring(first), first:is_a(Fish), first:is_a(Creature), first:is_a(Pond)) end
end

local random = Random(31)
local accounts = {}
for i = 1, 40 do
    accounts[i] = i % 3 == 0 and CreditAccount("owner " .. i, 100, 300) or Account("owner " .. i, 200)
end
local moved, refused = 0, 0
for step = 1, 120000 do
    local from, to = random.pick(accounts), random.pick(accounts)
    local amount = random.next(50)
    if from.withdraw(amount) then
        to.deposit(amount)
        moved = moved + amount
    else
        refused = refused + 1
    end
    if step % 97 == 0 then from.freeze(random.chance(30)) end
end
local sum = 0
for i, account in ipairs(accounts) do sum = sum + i * account.balance() end
print("moved", moved, "refused", refused, "sum", sum, accounts[7].owner(), accounts[7].statement(4))
