-- Who is alive. Whoever has not been for longer than ARGV 1 is forgotten.
-- KEYS 1: records   2: until when each is alive   3: incarnations
-- ARGV 1: milliseconds after which a dead member is forgotten
-- Answers name, incarnation, record, milliseconds for which it holds (below 0: it is dead) of each, one after another.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local gone = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now - tonumber(ARGV[1]))
for _, name in ipairs(gone) do
  redis.call('HDEL', KEYS[1], name)
  redis.call('HDEL', KEYS[3], name)
  redis.call('ZREM', KEYS[2], name)
end
local found = {}
local alive = redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES')
for at = 1, #alive, 2 do
  found[#found + 1] = alive[at]
  found[#found + 1] = redis.call('HGET', KEYS[3], alive[at])
  found[#found + 1] = redis.call('HGET', KEYS[1], alive[at])
  found[#found + 1] = string.format('%.0f', alive[at + 1] - now)
end
return found
