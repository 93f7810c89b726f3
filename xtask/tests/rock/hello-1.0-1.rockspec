-- A rock with a module in Lua, one in C, and a script: tests/library.rs installs it by LuaRocks.
package = "hello"
version = "1.0-1"
source = { url = "file://." }
build = {
   type = "builtin",
   modules = { hello = "hello.lua", ["hello.core"] = "core.c" },
   install = { bin = { "greet" } },
}
