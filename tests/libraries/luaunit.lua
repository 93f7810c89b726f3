-- A suite of tests with deep comparisons, and what it says of one that fails.
local unit = require("luaunit")
TestDeep = {}
for i = 1, 40 do
  TestDeep["test" .. i] = function()
    for k = 1, 25 do
      unit.assertEquals({ a = { k, i }, b = "x" .. k }, { a = { k, i }, b = "x" .. k })
      unit.assertNotEquals({ k }, { k + 1 })
      unit.assertItemsEquals({ 1, 2, 3, k }, { k, 3, 2, 1 })
      unit.assertStrContains("hello " .. k, tostring(k))
      unit.assertAlmostEquals(k / 3, k / 3 + 1e-12, 1e-9)
    end
    if i % 10 == 0 then unit.assertEquals({ 1, { i } }, { 1, { i + 1 } }) end
  end
end
local runner = unit.LuaUnit.new()
runner:setOutputType("nil")
print(runner:runSuiteByInstances({ { "TestDeep", TestDeep } }))
for _, test in ipairs(runner.result.failedTests) do print(test.testName, test.status) end
