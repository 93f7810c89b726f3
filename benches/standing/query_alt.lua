-- The questions of query.lua, by methods on lists: each step makes the next list, and loops are 'while'.

List = {}
List.__index = List

function List.new(items)
	local self = setmetatable({}, List)
	self.items = items or {}
	return self
end

function List.range(first, last)
	local list = List.new()
	while first <= last do
		list:add(first)
		first = first + 1
	end
	return list
end

function List:add(item)
	local items = self.items
	items[#items + 1] = item
end

function List:size()
	return #self.items
end

function List:filter(test, extra)
	local result, items, i = List.new(), self.items, 1
	while items[i] do
		local item = items[i]
		if test(item, extra) then result:add(item) end
		i = i + 1
	end
	return result
end

function List:map(f, extra)
	local result, items, i, n = {}, self.items, 1, #self.items
	while i <= n do
		result[i] = f(items[i], extra)
		i = i + 1
	end
	return List.new(result)
end

function List:flatten()
	local result = List.new()
	local i, n = 1, self:size()
	while i <= n do
		local inner = self.items[i].items
		local j = 1
		while inner[j] do
			result:add(inner[j])
			j = j + 1
		end
		i = i + 1
	end
	return result
end

function List:slice(first, last)
	local result, i = List.new(), first
	while i <= last and self.items[i] do
		result:add(self.items[i])
		i = i + 1
	end
	return result
end

function List:unique()
	local seen = {}
	return self:filter(function(item)
		if seen[item] then return false end
		seen[item] = true
		return true
	end)
end

-- The sum of one field.
function List:total(field)
	local sum, i = 0, 1
	while i <= #self.items do
		sum = sum + self.items[i][field]
		i = i + 1
	end
	return sum
end

function List:index(field)
	local map, i = {}, 1
	while i <= #self.items do
		map[self.items[i][field]] = self.items[i]
		i = i + 1
	end
	return map
end

function List:group(field)
	local groups, result = {}, List.new()
	local i = 1
	while self.items[i] do
		local item = self.items[i]
		local key = item[field]
		if groups[key] == nil then
			groups[key] = List.new()
			groups[key].key = key
			result:add(groups[key])
		end
		groups[key]:add(item)
		i = i + 1
	end
	return result
end

-- Merge sort by one field, stable; descending if asked for.
function List:sorted(field, descending)
	local from, to, n = {}, {}, self:size()
	local i = 1
	while i <= n do
		from[i] = self.items[i]
		i = i + 1
	end
	local width = 1
	while width < n do
		local low = 1
		while low <= n do
			local middle = math.min(low + width, n + 1)
			local high = math.min(low + 2 * width, n + 1)
			local a, b, k = low, middle, low
			while k < high do
				local take_b
				if a >= middle then
					take_b = true
				elseif b >= high then
					take_b = false
				elseif descending then
					take_b = from[b][field] > from[a][field]
				else
					take_b = from[b][field] < from[a][field]
				end
				if take_b then
					to[k] = from[b]
					b = b + 1
				else
					to[k] = from[a]
					a = a + 1
				end
				k = k + 1
			end
			low = high
		end
		from, to = to, from
		width = width * 2
	end
	return List.new(from)
end

function List:join(separator)
	return table.concat(self.items, separator)
end

Random = { state = 271828 }

function Random:next(n)
	self.state = (self.state * 16807) % 2147483647
	return self.state % n + 1
end

Article = {}
Article.__index = Article

function Article:cost()
	return self.pieces * self.price
end

Order = {}
Order.__index = Order

function Order.new(id)
	local self = setmetatable({ id = id }, Order)
	self.articles = List.new()
	local count = Random:next(4)
	while count > 0 do
		local article = setmetatable({}, Article)
		article.name = "A" .. Random:next(90)
		article.pieces = Random:next(5)
		article.price = Random:next(9000) / 100
		self.articles:add(article)
		count = count - 1
	end
	self.person = Random:next(430)
	self.day = Random:next(365)
	return self
end

function Order:total()
	local sum, i, articles = 0, 1, self.articles.items
	while articles[i] do
		sum = sum + articles[i]:cost()
		i = i + 1
	end
	return sum
end

Shop = { people = List.new(), orders = List.new() }

function Shop:fill()
	local cities = { "Aachen", "Bergen", "Cadiz", "Dover", "Essen", "Fano", "Gent", "Hull" }
	local i = 1
	while i <= 400 do
		local person = { id = i }
		person.name = string.char(64 + Random:next(26)) .. "-" .. i
		person.age = 17 + Random:next(60)
		person.city = cities[Random:next(8)]
		self.people:add(person)
		i = i + 1
	end
	i = 1
	while i <= 10500 do
		self.orders:add(Order.new(i))
		i = i + 1
	end
end

function Shop:elders(age)
	local younger = self.people:filter(function(p, limit) return p.age < limit end, age)
	return younger:sorted("age", true):slice(1, 5):map(function(p) return p.name end)
end

function Shop:by_city(day)
	local index = self.people:index("id")
	local late = self.orders:filter(function(o) return o.day > day and index[o.person] ~= nil end)
	local rows = late:map(function(o) return { city = index[o.person].city, total = o:total() } end)
	local sums = rows:group("city"):map(function(g) return { city = g.key, n = g:size(), total = g:total("total") } end)
	return sums:sorted("city"):map(function(r) return string.format("%s %d %.2f", r.city, r.n, r.total) end)
end

function Shop:articles(skip, weekday)
	local on_day = self.orders:slice(skip + 1, self.orders:size()):filter(function(o) return o.day % 7 == weekday end)
	local many = on_day:map(function(o) return o.articles end):flatten():filter(function(a) return a.pieces >= 3 and a.price > 84 end)
	return many:map(function(a) return a.name end):unique():size()
end

function Shop:unknown()
	local n, i = 0, 1
	while i <= self.orders:size() do
		if self.orders.items[i].person > self.people:size() then n = n + 1 end
		i = i + 1
	end
	return n
end

function Shop:dear(limit)
	local i = 1
	while i <= self.orders:size() do
		if self.orders.items[i]:total() > limit then return true end
		i = i + 1
	end
	return false
end

local function triples(remainder)
	local pairs_of_sides = List.range(1, 30):map(function(a)
		return List.range(a, 30):map(function(b) return { a = a, b = b, c = math.sqrt(a * a + b * b) } end)
	end)
	local right = pairs_of_sides:flatten():filter(function(t) return t.c % 1 == 0 end)
	right = right:filter(function(t) return t.a % 3 == remainder end)
	return right:map(function(t) return { area = t.a * t.b } end):total("area")
end

Shop:fill()
local round = 1
while round <= 18 do
	local elders = Shop:elders(78 - 3 * round)
	local by_city = Shop:by_city(round * 10)
	if round % 6 == 0 then print(by_city:join("\n")) end
	print(string.format("%d: %s; %d articles, %d unknown, %s, %d", round, elders:join(" "),
		Shop:articles(round * 20, round % 7), Shop:unknown(), tostring(Shop:dear(1000 + round * 30)), triples(round % 3)))
	round = round + 1
end
