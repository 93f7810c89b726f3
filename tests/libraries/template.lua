-- Penlight's templates: each is made a function, which is run once or several times.
local template = require("pl.template")
local page = [[
<ul>
# for i, v in ipairs(list) do
<li class="$(v.class)">$(v.name:upper()) is $(i)</li>
# for _, s in ipairs(v.sub or {}) do
  <b>$(s)</b>
# end
# end
</ul>
]]
local list, size = {}, 0
for i = 1, 60 do
  list[i] = { class = "c" .. i % 3, name = "name " .. i, sub = i % 2 == 0 and { i, i + 1 } or nil }
end
local env = { list = list, ipairs = ipairs }
for _ = 1, 25 do size = size + #assert(template.substitute(page, env)) end
local made = assert(template.compile(page))
for _ = 1, 25 do size = size + #assert(made:render(env)) end
print(size)
