-- A type checker for a small functional language: parser, inference by unification, let-polymorphism.
--
--   let compose f g = fun x -> f (g x)
--   let rec length l = if null l then 0 else 1 + length (tail l)

--============================================================ lexer and parser

local reserved = { let = true, rec = true, ["in"] = true, ["if"] = true, ["then"] = true, ["else"] = true, fun = true,
	["true"] = true, ["false"] = true }

local function tokenize(text)
	local tokens, i, line = {}, 1, 1
	while true do
		i = text:find("[^ \t]", i)
		if not i then break end
		local c = text:sub(i, i)
		local stop, kind, _
		if c == "\n" then
			line = line + 1
			i = i + 1
		elseif text:find("^%-%-", i) then
			i = text:find("\n", i, true) or #text + 1
		else
			_, stop = text:find("^[%a_][%w_']*", i)
			if stop then
				local word = text:sub(i, stop)
				kind = reserved[word] and word or "name"
			else
				_, stop = text:find("^%d+", i)
				kind = "int"
				if not stop then
					_, stop = text:find('^"[^"]*"', i)
					kind = "string"
				end
				if not stop then
					stop = i
					for _, op in ipairs({ "->", "::", "==", "<=", "&&", "||", "++" }) do
						if text:sub(i, i + 1) == op then stop = i + 1 end
					end
					kind = text:sub(i, stop)
				end
			end
			tokens[#tokens + 1] = { kind = kind, text = text:sub(i, stop), line = line }
			i = stop + 1
		end
	end
	tokens[#tokens + 1] = { kind = "eof", text = "end of file", line = line }
	return tokens
end

local Parser = {}
Parser.__index = Parser

function Parser:peek() return self.tokens[self.pos].kind end

function Parser:take(kind)
	local token = self.tokens[self.pos]
	if token.kind ~= kind then
		error(("line %d: expected %s, found %s"):format(token.line, kind, token.text), 0)
	end
	self.pos = self.pos + 1
	return token
end

function Parser:accept(kind)
	if self:peek() == kind then
		self.pos = self.pos + 1
		return true
	end
end

local levels = { { "||" }, { "&&" }, { "==", "<", "<=" }, { "::", right = true }, { "++" }, { "+", "-" }, { "*", "/" } }
for _, level in ipairs(levels) do
	for _, op in ipairs(level) do level[op] = true end
end

function Parser:binary(n)
	local level = levels[n]
	if not level then return self:application() end
	local left = self:binary(n + 1)
	while level[self:peek()] do
		local op = self:take(self:peek())
		local right = self:binary(level.right and n or n + 1)
		left = { tag = "apply", line = op.line, { tag = "apply", line = op.line, { tag = "name", op.text, line = op.line }, left }, right }
	end
	return left
end

local starts_atom = { name = true, int = true, string = true, ["("] = true, ["["] = true, ["true"] = true, ["false"] = true }

function Parser:application()
	local f = self:atom()
	while starts_atom[self:peek()] do
		f = { tag = "apply", line = self.tokens[self.pos].line, f, self:atom() }
	end
	return f
end

function Parser:atom()
	local token = self.tokens[self.pos]
	local kind = token.kind
	self.pos = self.pos + 1
	if kind == "name" then return { tag = "name", token.text, line = token.line } end
	if kind == "int" or kind == "string" then return { tag = kind, line = token.line } end
	if kind == "true" or kind == "false" then return { tag = "bool", line = token.line } end
	if kind == "(" then
		local e = self:expression()
		if self:accept(",") then
			e = { tag = "pair", line = token.line, e, self:expression() }
		end
		self:take(")")
		return e
	elseif kind == "[" then
		local list = { tag = "list", line = token.line }
		if not self:accept("]") then
			repeat list[#list + 1] = self:expression() until not self:accept(",")
			self:take("]")
		end
		return list
	end
	error(("line %d: unexpected %s"):format(token.line, token.text), 0)
end

function Parser:parameters(stop)
	local names = {}
	while not self:accept(stop) do names[#names + 1] = self:take("name").text end
	return names
end

local function curry(names, body)
	for i = #names, 1, -1 do body = { tag = "fun", names[i], body, line = body.line } end
	return body
end

function Parser:binding()
	local line = self:take("let").line
	local rec = self:accept("rec")
	local name = self:take("name").text
	local names = self:parameters("=")
	return { tag = "let", line = line, rec = rec, name = name, value = curry(names, self:expression()) }
end

function Parser:expression()
	local kind = self:peek()
	if kind == "let" then
		local let = self:binding()
		self:take("in")
		let.body = self:expression()
		return let
	elseif kind == "if" then
		local e = { tag = "if", line = self:take("if").line }
		e[1] = self:expression(); self:take("then")
		e[2] = self:expression(); self:take("else")
		e[3] = self:expression()
		return e
	elseif kind == "fun" then
		self:take("fun")
		local names = self:parameters("->")
		return curry(names, self:expression())
	end
	return self:binary(1)
end

local function parse(text)
	local parser = setmetatable({ tokens = tokenize(text), pos = 1 }, Parser)
	local program = {}
	while parser:peek() ~= "eof" do program[#program + 1] = parser:binding() end
	return program
end

--============================================================ types

local next_id, unifications = 0, 0

local function variable(level)
	next_id = next_id + 1
	return { id = next_id, level = level }
end
local function constructor(name, ...) return { name = name, ... } end
local INT, BOOL, STRING = constructor("int"), constructor("bool"), constructor("string")
local function arrow(a, b) return constructor("->", a, b) end

local function resolve(t)
	while t.link do t = t.link end
	return t
end

local function show(t, names)
	t = resolve(t)
	names = names or { n = 0 }
	if not t.name then
		if not names[t] then
			names.n = names.n + 1
			names[t] = "'" .. string.char(96 + (names.n - 1) % 26 + 1)
		end
		return names[t]
	elseif t.name == "->" then
		local from = resolve(t[1])
		local left = show(from, names)
		if from.name == "->" then left = "(" .. left .. ")" end
		return left .. " -> " .. show(t[2], names)
	elseif t.name == "*" then
		return "(" .. show(t[1], names) .. " * " .. show(t[2], names) .. ")"
	elseif t.name == "list" then
		return "[" .. show(t[1], names) .. "]"
	end
	return t.name
end

local function occurs(var, t)
	t = resolve(t)
	if t == var then return true end
	if not t.name then
		if t.level > var.level then t.level = var.level end
		return false
	end
	for i = 1, #t do
		if occurs(var, t[i]) then return true end
	end
	return false
end

local function unify(a, b, line)
	unifications = unifications + 1
	a, b = resolve(a), resolve(b)
	if a == b then return end
	if not a.name then
		if occurs(a, b) then error(("line %d: infinite type"):format(line), 0) end
		a.link = b
	elseif not b.name then
		unify(b, a, line)
	elseif a.name ~= b.name or #a ~= #b then
		error(("line %d: %s is not %s"):format(line, show(a), show(b)), 0)
	else
		for i = 1, #a do unify(a[i], b[i], line) end
	end
end

local function instantiate(t, level, map)
	t = resolve(t)
	if not t.name then
		if t.level ~= math.huge then return t end
		if not map[t] then map[t] = variable(level) end
		return map[t]
	elseif #t == 0 then
		return t
	end
	local copy = { name = t.name }
	for i, part in ipairs(t) do copy[i] = instantiate(part, level, map) end
	return copy
end

local function generalize(t, level)
	t = resolve(t)
	if not t.name then
		if t.level > level then t.level = math.huge end
	else
		for i = 1, #t do generalize(t[i], level) end
	end
end

local infer = {}
local function check(e, env, level) return infer[e.tag](e, env, level) end
local function extend(env, name, t) return setmetatable({ [name] = t }, { __index = env }) end

function infer.int() return INT end
function infer.bool() return BOOL end
function infer.string() return STRING end
function infer.name(e, env, level)
	local t = env[e[1]]
	if not t then error(("line %d: unknown name %s"):format(e.line, e[1]), 0) end
	return instantiate(t, level, {})
end
function infer.pair(e, env, level) return constructor("*", check(e[1], env, level), check(e[2], env, level)) end
function infer.list(e, env, level)
	local item = variable(level)
	for _, element in ipairs(e) do unify(check(element, env, level), item, element.line) end
	return constructor("list", item)
end
infer["if"] = function(e, env, level)
	unify(check(e[1], env, level), BOOL, e[1].line)
	local t = check(e[2], env, level)
	unify(check(e[3], env, level), t, e[3].line)
	return t
end
function infer.fun(e, env, level)
	local parameter = variable(level)
	return arrow(parameter, check(e[2], extend(env, e[1], parameter), level))
end
function infer.apply(e, env, level)
	local f = check(e[1], env, level)
	local argument = check(e[2], env, level)
	local result = variable(level)
	unify(f, arrow(argument, result), e.line)
	return result
end
local function bind(e, env, level)
	local t
	if e.rec then
		t = variable(level + 1)
		unify(t, check(e.value, extend(env, e.name, t), level + 1), e.line)
	else
		t = check(e.value, env, level + 1)
	end
	generalize(t, level)
	return t
end
function infer.let(e, env, level)
	return check(e.body, extend(env, e.name, bind(e, env, level)), level)
end

--============================================================ programs

local prelude = [[
let id x = x
let const x y = x
let flip f x y = f y x
let compose f g x = f (g x)
let rec map f l = if null l then [] else f (head l) :: map f (tail l)
let rec filter p l = if null l then [] else if p (head l) then head l :: filter p (tail l) else filter p (tail l)
let rec fold f z l = if null l then z else fold f (f z (head l)) (tail l)
let rec zip a b = if null a || null b then [] else (head a, head b) :: zip (tail a) (tail b)
let length l = fold (fun n x -> n + 1) 0 l
let reverse l = fold (fun done x -> x :: done) [] l
let sum = fold (fun a b -> a + b) 0
let concat = fold (fun a b -> a ++ b) ""
let rec range a b = if b < a then [] else a :: range (a + 1) b
let any p l = fold (fun found x -> found || p x) false l
let swap p = (second p, first p)
let curry f x y = f (x, y)
let uncurry f p = f (first p) (second p)
let rec insert x l = if null l then [x] else if x <= head l then x :: l else head l :: insert x (tail l)
let sort l = fold (flip insert) [] l
let twice f = compose f f
let rec append a b = if null a then b else head a :: append (tail a) b
let flatten l = fold append [] l
let pairs l = let next = tail l in zip l next -- neighbours
]]

local seed = 2718281
local function random(n)
	seed = seed * 16807 % 2147483647
	return seed % n + 1
end

-- Writes an expression that should have the type asked for; now and then it has another one.
local write
local function any_type() return ({ "int", "bool", "string", "ints", "strings" })[random(5)] end
local forms = {
	int = { function(d) return write("int", d) .. " + " .. write("int", d) end,
		function(d) return "sum " .. write("ints", d) end,
		function(d) return "length " .. write(any_type():sub(1, 3) == "str" and "strings" or "ints", d) end,
		function(d) return "let v = " .. write("int", d) .. " in twice (fun x -> x * v) " .. write("int", d) end,
		function(d) return "first (swap (" .. write("string", d) .. ", " .. write("int", d) .. "))" end },
	bool = { function(d) return write("int", d) .. " <= " .. write("int", d) end,
		function(d) return "any (fun s -> s == " .. write("string", d) .. ") " .. write("strings", d) end,
		function(d) return write("bool", d) .. " && " .. write("bool", d) end },
	string = { function(d) return write("string", d) .. " ++ " .. write("string", d) end,
		function(d) return "concat " .. write("strings", d) end,
		function(d) return "if " .. write("bool", d) .. " then " .. write("string", d) .. " else " .. write("string", d) end },
	ints = { function(d) return "map (fun x -> x + " .. write("int", d) .. ") " .. write("ints", d) end,
		function(d) return "sort (filter (fun x -> x < " .. write("int", d) .. ") " .. write("ints", d) .. ")" end,
		function(d) return write("int", d) .. " :: " .. write("ints", d) end,
		function(d) return "map (uncurry (fun a b -> a * b)) (pairs " .. write("ints", d) .. ")" end },
	strings = { function(d) return "map (const " .. write("string", d) .. ") " .. write("ints", d) end,
		function(d) return "flatten [" .. write("strings", d) .. ", " .. write("strings", d) .. "]" end },
}
local leaves = { int = { "1", "42", "n", "7" }, bool = { "true", "false", "flag" }, string = { '"a"', '"hello"', "s" },
	ints = { "[1, 2, 3]", "[]", "(range 1 10)", "list" }, strings = { '["x", "y"]', "[]", "(id [s])" } }

function write(kind, depth)
	if random(400) == 1 then kind = any_type() end
	if depth == 0 or random(6) == 1 then return leaves[kind][random(#leaves[kind])] end
	return "(" .. forms[kind][random(#forms[kind])](depth - 1) .. ")"
end

local basis = {}
do
	local a, b = variable(math.huge), variable(math.huge)
	local list = constructor("list", a)
	local pair = constructor("*", a, b)
	local ints = arrow(INT, arrow(INT, INT))
	basis["+"], basis["-"], basis["*"], basis["/"] = ints, ints, ints, ints
	basis["<"], basis["<="] = arrow(INT, arrow(INT, BOOL)), arrow(INT, arrow(INT, BOOL))
	basis["=="] = arrow(a, arrow(a, BOOL))
	basis["&&"], basis["||"] = arrow(BOOL, arrow(BOOL, BOOL)), arrow(BOOL, arrow(BOOL, BOOL))
	basis["++"] = arrow(STRING, arrow(STRING, STRING))
	basis["::"] = arrow(a, arrow(list, list))
	basis.null, basis.head, basis.tail = arrow(list, BOOL), arrow(list, a), arrow(list, list)
	basis.first, basis.second = arrow(pair, a), arrow(pair, b)
end

local results, errors, sum, last_error = 0, 0, 0, "none"
for round = 1, 180 do
	local source = { prelude }
	for i = 1, 12 do
		source[#source + 1] = ("let f%d n flag s list = %s\n"):format(i, write(any_type(), 2 + random(3)))
		if random(50) == 1 then source[#source + 1] = "let broken = fun x -> x x\n" end
	end
	local env = basis
	for _, definition in ipairs(parse(table.concat(source))) do
		local ok, t = pcall(bind, definition, env, 0)
		local text
		if ok then
			env = extend(env, definition.name, t)
			text = show(t)
			results = results + 1
		else
			errors = errors + 1
			text, last_error = t, t
		end
		for i = 1, #text do sum = (sum * 31 + text:byte(i)) % 1000000007 end
		if round == 1 then print(definition.name .. " : " .. text) end
	end
end
print("defined", results, "errors", errors, "last", last_error)
print("unifications", unifications, "variables", next_id, "sum", ("%d"):format(sum))
print(pcall(parse, "let x = (1, 2"))
