-- Penlight's classes: constructors that call their parents', methods found along a chain, operators.
local class = require("pl.class")
local Animal = class()
function Animal:_init(name) self.name, self.legs = name, 4 end
function Animal:speak() return self.name .. ": " .. self:sound() end
function Animal:sound() return "..." end
local Dog = class(Animal)
function Dog:_init(name, tricks) self:super(name) self.tricks = tricks or {} end
function Dog:sound() return "woof" end
function Dog:learn(trick) self.tricks[#self.tricks + 1] = trick return self end
local Puppy = class(Dog)
function Puppy:sound() return "yip" end
local Account = class({
  _init = function(self, balance) self.balance = balance end,
  deposit = function(self, n) self.balance = self.balance + n end,
  __add = function(a, b) return a.balance + b.balance end,
})
local sum = 0
for i = 1, 3000 do
  local dog = (i % 3 == 0 and Puppy or Dog)("rex" .. i % 10)
  dog:learn("sit"):learn("roll")
  sum = sum + #dog:speak() + #dog.tricks + (dog:is_a(Animal) and 1 or 0) + (Dog:class_of(dog) and 2 or 0)
  local account, other = Account(i), Account(5)
  account:deposit(other.balance)
  sum = sum + (account + other)
end
print(sum)
