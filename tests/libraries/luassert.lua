-- Assertions with matchers, and their messages.
local assert = require("luassert")
local failed, size = 0, 0
for i = 1, 200 do
  assert.are.same({ a = { i, { b = i } }, c = "x" }, { a = { i, { b = i } }, c = "x" })
  assert.is_true(i > 0)
  assert.has_error(function() error("x" .. i, 0) end, "x" .. i)
  assert.are_not.equal(i, i + 1)
  assert.is_nil(nil)
  assert.is_string("s" .. i)
  local ok, message = pcall(function() assert.are.same({ 1, { 2, i } }, { 1, { 3, i } }) end)
  if not ok then failed, size = failed + 1, size + #tostring(message) end
end
print(failed, size)
