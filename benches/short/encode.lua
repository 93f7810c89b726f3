-- Writes a nested table as JSON and reads it back.
local function encode(value, out)
    local kind = type(value)
    if kind == "table" then
        if #value > 0 then
            out[#out + 1] = "["
            for i = 1, #value do
                if i > 1 then
                    out[#out + 1] = ","
                end
                encode(value[i], out)
            end
            out[#out + 1] = "]"
        else
            local keys = {}
            for key in pairs(value) do
                keys[#keys + 1] = key
            end
            table.sort(keys)
            out[#out + 1] = "{"
            for i = 1, #keys do
                if i > 1 then
                    out[#out + 1] = ","
                end
                out[#out + 1] = '"' .. keys[i] .. '":'
                encode(value[keys[i]], out)
            end
            out[#out + 1] = "}"
        end
    elseif kind == "string" then
        out[#out + 1] = '"' .. value:gsub('[%c"\\]', function(c)
            return string.format("\\u%04x", c:byte())
        end) .. '"'
    else
        out[#out + 1] = tostring(value)
    end
    return out
end

local decode
local function skip(text, at)
    return text:find("[^%s]", at)
end

function decode(text, at)
    at = skip(text, at)
    local c = text:sub(at, at)
    if c == "{" or c == "[" then
        local result, close = {}, c == "{" and "}" or "]"
        at = skip(text, at + 1)
        while text:sub(at, at) ~= close do
            local key = #result + 1
            if c == "{" then
                key, at = decode(text, at)
                at = skip(text, at) + 1
            end
            result[key], at = decode(text, at)
            at = skip(text, at)
            if text:sub(at, at) == "," then
                at = skip(text, at + 1)
            end
        end
        return result, at + 1
    elseif c == '"' then
        local stop = text:find('"', at + 1, true)
        local piece = text:sub(at + 1, stop - 1):gsub("\\u(%x%x%x%x)", function(digits)
            return string.char(tonumber(digits, 16))
        end)
        return piece, stop + 1
    end
    local _, stop = text:find("^-?[%w.]+", at)
    local piece = text:sub(at, stop)
    if piece == "true" or piece == "false" then
        return piece == "true", stop + 1
    end
    return tonumber(piece), stop + 1
end

local data = {}
for i = 1, 900 do
    data[i] = { id = i, name = "item \"" .. i .. "\"", tags = { "a", "b" .. i % 7 }, on = i % 2 == 0 }
end
local text = table.concat(encode(data, {}))
local again = table.concat(encode((decode(text, 1)), {}))
print(#text, text == again)
