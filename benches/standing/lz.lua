-- Compression of text: LZSS (hash chains, lazy matching, bits packed into bytes) and LZW (codes that grow, dictionary
-- reset). All is decompressed again and compared; sizes and checksums are printed.

local byte, char, sub, concat = string.byte, string.char, string.sub, table.concat

---------------------------------------------------------------- bits

local function bit_writer()
  local out, n = {}, 0
  local hold, count = 0, 0
  local function write(value, bits)
    hold = hold | (value << count)
    count = count + bits
    while count >= 8 do
      n = n + 1
      out[n] = char(hold & 255)
      hold = hold >> 8
      count = count - 8
    end
  end
  local function finish()
    if count > 0 then
      n = n + 1
      out[n] = char(hold & 255)
    end
    return concat(out)
  end
  return write, finish
end

local function bit_reader(data)
  local at, hold, count = 1, 0, 0
  return function(bits)
    while count < bits do
      hold = hold | ((byte(data, at) or 0) << count)
      at = at + 1
      count = count + 8
    end
    local value = hold & ((1 << bits) - 1)
    hold = hold >> bits
    count = count - bits
    return value
  end
end

---------------------------------------------------------------- LZSS

local WINDOW, MIN_MATCH, MAX_MATCH, MAX_CHAIN = 1 << 12, 3, 18, 24

local function hash3(data, i)
  local a, b, c = byte(data, i, i + 2)
  return ((a << 8) ~ (b << 4) ~ c ~ (a >> 3)) & 4095
end

local function match_length(data, i, j, limit)
  local n = 0
  while n < limit and byte(data, i + n) == byte(data, j + n) do
    n = n + 1
  end
  return n
end

local function lzss_compress(data)
  local write, finish = bit_writer()
  local head, previous = {}, {}
  local size = #data

  local function insert(i)
    if i + 2 <= size then
      local h = hash3(data, i)
      previous[i & (WINDOW - 1)] = head[h]
      head[h] = i
    end
  end

  local function longest(i)
    if i + 2 > size then return 0 end
    local best, where = 0, 0
    local limit = math.min(MAX_MATCH, size - i + 1)
    local j, chain = head[hash3(data, i)], MAX_CHAIN
    while j and i - j < WINDOW and chain > 0 do
      if best == 0 or byte(data, j + best) == byte(data, i + best) then
        local n = match_length(data, i, j, limit)
        if n > best then
          best, where = n, j
          if n == limit then break end
        end
      end
      local older = previous[j & (WINDOW - 1)]
      if older and older >= j then break end
      j = older
      chain = chain - 1
    end
    return best, i - where
  end

  write(size, 24)
  local i, literals, matches = 1, 0, 0
  while i <= size do
    local n, distance = longest(i)
    insert(i)
    if n >= MIN_MATCH and i < size then
      -- Perhaps the next byte begins something longer.
      local later = longest(i + 1)
      if later > n + 1 then n = 0 end
    end
    if n >= MIN_MATCH then
      matches = matches + 1
      write(1, 1)
      write(distance, 12)
      write(n - MIN_MATCH, 4)
      for k = i + 1, i + n - 1 do insert(k) end
      i = i + n
    else
      literals = literals + 1
      write(0, 1)
      write(byte(data, i), 8)
      i = i + 1
    end
  end
  return finish(), literals, matches
end

local function lzss_decompress(packed)
  local read = bit_reader(packed)
  local size = read(24)
  local out, n = {}, 0
  while n < size do
    if read(1) == 1 then
      local distance = read(12)
      for _ = 1, read(4) + MIN_MATCH do
        n = n + 1
        out[n] = out[n - distance]
      end
    else
      n = n + 1
      out[n] = char(read(8))
    end
  end
  return concat(out)
end

---------------------------------------------------------------- LZW

local CLEAR, STOP, FIRST, MAX_BITS = 256, 257, 258, 12

local function lzw_compress(data)
  local write, finish = bit_writer()
  local codes, next_code, bits, resets

  local function reset()
    codes = {}
    for c = 0, 255 do codes[char(c)] = c end
    next_code, bits = FIRST, 9
  end

  reset()
  resets = 0
  write(CLEAR, bits)
  local word = ""
  for i = 1, #data do
    local c = sub(data, i, i)
    local longer = word .. c
    if codes[longer] then
      word = longer
    else
      write(codes[word], bits)
      if next_code < (1 << MAX_BITS) then
        codes[longer] = next_code
        if next_code == (1 << bits) then bits = bits + 1 end
        next_code = next_code + 1
      else
        write(CLEAR, bits)
        reset()
        resets = resets + 1
      end
      word = c
    end
  end
  if word ~= "" then write(codes[word], bits) end
  write(STOP, bits)
  return finish(), resets
end

local function lzw_decompress(packed)
  local read = bit_reader(packed)
  local words, next_code, bits, last
  local out = {}
  local code = read(9)
  while code ~= STOP do
    if code == CLEAR then
      words = {}
      for c = 0, 255 do words[c] = char(c) end
      next_code, bits, last = FIRST, 9, nil
    else
      local word = words[code]
      if not word then
        if code ~= next_code or not last then error("bad code " .. code) end
        word = last .. sub(last, 1, 1)
      end
      out[#out + 1] = word
      if last and next_code < (1 << MAX_BITS) then
        words[next_code] = last .. sub(word, 1, 1)
        next_code = next_code + 1
      end
      last = word
      if next_code >= (1 << bits) and bits < MAX_BITS then bits = bits + 1 end
    end
    code = read(bits)
  end
  return concat(out)
end

---------------------------------------------------------------- texts

local seed = 271828
local function random(n)
  seed = seed * 16807 % 2147483647
  return seed % n + 1
end

local story = [[
The old harbour lay quiet that evening, and the boats, tied two by two, knocked softly against the wall whenever a
swell came in from beyond the breakwater. Nobody had swept the quay since morning; nets, baskets and a broken oar were
left where the men had dropped them. On the third step a boy sat counting the lamps that went on across the water:
first the tavern, then the chandler's, and after a long while the window above the bakery, where his sister would be
reading by now. He thought of going home. He thought, too, of the ship that was said to be due, and so he stayed.
]]

-- Prose with the habits of the story: the next letter depends on the three before it.
local function prose(size)
  local followers = {}
  for i = 1, #story - 3 do
    local key = sub(story, i, i + 2)
    followers[key] = (followers[key] or "") .. sub(story, i + 3, i + 3)
  end
  local text, key = { "The" }, "The"
  for i = 2, size do
    local options = followers[key]
    if not options or random(40) == 1 then
      local at = random(#story - 4)
      key = sub(story, at, at + 2)
      text[i] = key
    else
      local at = random(#options)
      text[i] = sub(options, at, at)
      key = sub(key, 2) .. text[i]
    end
  end
  return concat(text)
end

local function log_file(lines)
  local levels, parts = { "INFO", "INFO", "INFO", "WARN", "ERROR", "DEBUG" }, { "db", "net.http", "cache", "auth", "scheduler" }
  local what = { "connection from 10.0.%d.%d closed", "request %d took %d ms", "user %d not found (code %d)", "retry %d of %d" }
  local out, clock = {}, 0
  for i = 1, lines do
    clock = clock + random(90)
    out[i] = string.format("2024-03-%02d %02d:%02d:%02d %-5s [%s] ", clock // 86400 % 28 + 1, clock // 3600 % 24, clock // 60 % 60,
      clock % 60, levels[random(#levels)], parts[random(#parts)]) .. string.format(what[random(#what)], random(255), random(255))
  end
  return concat(out, "\n")
end

local function source_code(functions)
  local names = { "count", "index", "node", "value", "list", "result", "total" }
  local out = {}
  for i = 1, functions do
    local a, b, c = names[random(#names)], names[random(#names)], names[random(#names)]
    out[#out + 1] = string.format("local function %s_%d(%s, %s)\n", a, i, b, c)
    for k = 1, random(5) do
      if random(2) == 1 then
        out[#out + 1] = string.format("  if %s > %d then return %s end\n", b, random(99), c)
      else
        out[#out + 1] = string.format("  local x%d = %s.%s\n", k, a, names[random(#names)])
      end
    end
    out[#out + 1] = "end\n\n"
  end
  return concat(out)
end

local function noise(size)
  local out = {}
  for i = 1, size do out[i] = char(random(256) - 1) end
  return concat(out)
end

---------------------------------------------------------------- the work

local function checksum(data)
  local a, b = 1, 0
  for i = 1, #data do
    a = (a + byte(data, i)) % 65521
    b = (b + a) % 65521
  end
  return (b << 16) | a
end

local function try(name, text)
  local packed, literals, matches = lzss_compress(text)
  assert(lzss_decompress(packed) == text, name .. ": LZSS")
  local coded, resets = lzw_compress(text)
  assert(lzw_decompress(coded) == text, name .. ": LZW")
  print(string.format("%-7s %6d bytes | LZSS %6d (%d literals, %d matches) %08x | LZW %6d (%d resets) %08x", name, #text,
    #packed, literals, matches, checksum(packed), #coded, resets, checksum(coded)))
end

try("story", story)
try("prose", prose(60000))
try("log", log_file(1200))
try("source", source_code(700))
try("noise", noise(12000))
try("spaces", (" "):rep(20000))
try("nothing", "")
try("own", prose(30000) .. log_file(300) .. prose(10000))
