// As a function that is a value, in one expression.
var fib
fib = Fn.new {|n| n < 2 ? n : fib.call(n - 1) + fib.call(n - 2) }
System.print(fib.call(32))
