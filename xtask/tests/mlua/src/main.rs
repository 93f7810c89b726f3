//! A program that embeds Lua by `mlua`: what such programs do with functions, userdata, coroutines, errors,
//! serialized tables and memory, with loops that are hot.
//!
//! Example: `LUA_LIB=$PREFIX/lib LUA_LIB_NAME=tlua5.4 LUA_LINK=dynamic cargo run`.

use mlua::prelude::*;

#[derive(Clone, Copy)]
struct Point {
    x: f64,
    y: f64,
}

impl LuaUserData for Point {
    fn add_fields<F: LuaUserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("x", |_, this| Ok(this.x));
        fields.add_field_method_set("x", |_, this, x: f64| {
            this.x = x;
            Ok(())
        });
    }

    fn add_methods<M: LuaUserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("length", |_, this, ()| Ok(this.x.hypot(this.y)));
        methods.add_meta_method(LuaMetaMethod::Add, |_, this, other: LuaUserDataRef<Point>| {
            Ok(Point { x: this.x + other.x, y: this.y + other.y })
        });
    }
}

impl FromLua for Point {
    fn from_lua(value: LuaValue, _: &Lua) -> LuaResult<Point> {
        match value {
            LuaValue::UserData(data) => Ok(*data.borrow::<Point>()?),
            _ => Err(LuaError::runtime("no point")),
        }
    }
}

fn main() -> LuaResult<()> {
    let lua = Lua::new();
    let globals = lua.globals();

    let sum: i64 = lua.load("local s = 0 for i = 1, 300000 do s = s + i % 7 end return s").eval()?;
    println!("sum {sum}");

    globals.set("twice", lua.create_function(|_, n: i64| Ok(2 * n))?)?;
    let called: i64 = lua.load("local s = 0 for i = 1, 20000 do s = s + twice(i) end return s").eval()?;
    println!("called {called}");

    globals.set("point", lua.create_function(|_, (x, y): (f64, f64)| Ok(Point { x, y }))?)?;
    let walked: Point = lua
        .load(
            "local p, step = point(0, 0), point(3, 4) \
             for i = 1, 5000 do p = p + step; p.x = p.x - 1 end return p",
        )
        .eval()?;
    println!("walked {} {}", walked.x, walked.y);

    let function: LuaFunction = lua.load("return function(n) return n * n end").eval()?;
    let squares = (0..2000).map(|n| function.call::<i64>(n)).sum::<LuaResult<i64>>()?;
    println!("squares {squares}");

    let thread: LuaThread = lua
        .load(
            "return coroutine.create(function(a) \
             for i = 1, 3000 do a = a + coroutine.yield(a) end return a end)",
        )
        .eval()?;
    let mut last = 0;
    while thread.status() == LuaThreadStatus::Resumable {
        last = thread.resume::<i64>(1)?;
    }
    println!("resumed {last}");

    let wrong = lua.load("local t = {} for i = 1, 1000 do if i == 999 then t = nil end t[i] = i end");
    let error = wrong.set_name("=wrong").exec().expect_err("it indexes nil").to_string();
    println!("error {}", error.lines().next().unwrap_or_default());

    globals.set(
        "fails",
        lua.create_function(|_, n: i64| match n {
            500 => Err(LuaError::runtime("five hundred")),
            n => Ok(n),
        })?,
    )?;
    let caught: (bool, String) = lua
        .load(
            "local ok, why = pcall(function() for i = 1, 1000 do fails(i) end end) return ok, tostring(why)",
        )
        .eval()?;
    println!("caught {} {}", caught.0, caught.1.lines().next().unwrap_or_default());

    let scope_sum = std::cell::Cell::new(0);
    lua.scope(|scope| {
        let add = scope.create_function(|_, n: i64| {
            scope_sum.set(scope_sum.get() + n);
            Ok(())
        })?;
        lua.load("local add = ... for i = 1, 2000 do add(i) end").call::<()>(add)
    })?;
    println!("scope {}", scope_sum.get());

    lua.set_memory_limit(4 << 20)?;
    let full = lua.load("local t = {} for i = 1, 1e7 do t[i] = { i } end").exec();
    println!("memory {}", matches!(full, Err(LuaError::MemoryError(_))));
    lua.set_memory_limit(0)?;
    lua.gc_collect()?;

    let count = std::rc::Rc::new(std::cell::Cell::new(0u32));
    let hooked = count.clone();
    lua.set_hook(LuaHookTriggers::new().every_nth_instruction(1000), move |_, _| {
        hooked.set(hooked.get() + 1);
        if hooked.get() == 50 {
            return Err(LuaError::runtime("enough"));
        }
        Ok(LuaVmState::Continue)
    })?;
    let endless = lua.load("while true do end").exec();
    lua.remove_hook();
    println!("hook {} {}", endless.is_err(), count.get());

    let table: LuaTable = lua.load("local t = {} for i = 1, 500 do t[i] = i * i end return t").eval()?;
    let sum: i64 = table.sequence_values::<i64>().sum::<LuaResult<i64>>()?;
    println!("table {} {sum}", table.raw_len());
    Ok(())
}
