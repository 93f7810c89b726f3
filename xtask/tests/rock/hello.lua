local core = require("hello.core")
return { add = function(a, b) return core.add(a, b) end }
