-- Bank accounts: objects with checked operations, error objects, transactions that roll back, and an audit through proxies.
local Failure = { __tostring = function(f) return f.code .. ": " .. f.text end }
local function fail(code, ...) error(setmetatable({ code = code, text = string.format(...) }, Failure), 0) end
local Account = { interest = 0.02 }
Account.__index = Account
function Account.new(name, balance) return setmetatable({ name = name, balance = balance or 0, log = {} }, Account) end
function Account:deposit(amount)
  if math.type(amount) ~= "integer" then fail("TYPE", "%s is no amount of cents", tostring(amount)) end
  if amount <= 0 then fail("AMOUNT", "cannot deposit %d", amount) end
  self.balance = self.balance + amount
  self.log[#self.log + 1] = amount
end
function Account:limit() return 0 end
function Account:withdraw(amount)
  if self.balance - amount < -self:limit() then fail("FUNDS", "%s has %d, not %d", self.name, self.balance, amount) end
  self.balance = self.balance - amount
  self.log[#self.log + 1] = -amount
end
local Credit = setmetatable({}, { __index = Account })
Credit.__index = Credit
function Credit.new(name, limit)
  local a = Account.new(name)
  a.credit = limit
  return setmetatable(a, Credit)
end
function Credit:limit() return self.credit end
local bank = { Account.new("ann", 10000), Account.new("bob", 500), Credit.new("cid", 3000) }
local function transfer(from, to, amount)
  local before = { from.balance, to.balance }
  local ok, message = pcall(function()
    to:deposit(amount)
    from:withdraw(amount)
  end)
  if not ok then
    from.balance, to.balance = before[1], before[2]
    to.log[#to.log] = amount > 0 and math.type(amount) == "integer" and nil or to.log[#to.log]
    error(message, 0)
  end
end
local codes = {}
for i = 1, 200 do
  local from, to = bank[i % 3 + 1], bank[i * 7 % 3 + 1]
  local amount = i % 11 == 0 and -5 or i % 13 == 0 and 2.5 or i * 370 % 4100
  if from == to then to = bank[(i + 1) % 3 + 1] end
  local ok, message = pcall(transfer, from, to, amount)
  local code = ok and "OK" or type(message) == "table" and message.code or message
  codes[code] = (codes[code] or 0) + 1
  if not ok and i % 40 < 2 then print(i, tostring(message)) end
end
local names = {}
for code in pairs(codes) do names[#names + 1] = code end
table.sort(names)
for _, code in ipairs(names) do print(code, codes[code]) end
local total = 0
for _, a in ipairs(bank) do
  total = total + a.balance
  print(a.name, a.balance, #a.log)
end
print(total)
local reads, writes = 0, 0
local function audited(a)
  return setmetatable({}, {
    __index = function(_, k) reads = reads + 1 return a[k] end,
    __newindex = function(_, k, v)
      writes = writes + 1
      if k == "name" then fail("AUDIT", "the name of %s is fixed", a.name) end
      a[k] = v
    end
  })
end
local watched = audited(bank[1])
for i = 1, 100 do
  if i % 2 == 0 then watched:deposit(i) else watched:withdraw(i) end
end
print(reads, writes, bank[1].balance, select(2, pcall(function() watched.name = "eve" end)))
for i = 1, 60 do
  local a = bank[i % 3 + 1]
  local rate = a.interest
  if i == 30 then Account.interest = 0.05 end
  a.balance = a.balance + a.balance * rate // 100 | 0
end
for _, a in ipairs(bank) do print(a.name, a.balance) end
print(pcall(bank[2].deposit, nil, 5))
print(pcall(bank[2].deposit, bank[2], "5"))
