-- Newton's iteration for the square root, for any type of numbers that can be added and divided: one function serves
-- all of them.
return function(y, iterations)
    local x = y / 2
    for _ = 2, iterations do
        x = (x + y / x) / 2
    end
    return x
end
