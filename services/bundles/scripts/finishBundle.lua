-- A bundle is whole from here on: its pieces stay, and its list is there.
-- KEYS 1: the list   2: bundles by the time at which they were last asked for (sorted set, Redis' time in ms)   3 and more: the pieces
-- ARGV 1: hash   2: the list: the upload and its files
-- Another upload may have been faster: then that one stays, and these pieces go.
-- Answers 1, or 0 where a piece is gone (it was kept for an hour only).
if redis.call('EXISTS', KEYS[1]) == 1 then
  for at = 3, #KEYS do
    redis.call('DEL', KEYS[at])
  end
  return 1
end
for at = 3, #KEYS do
  if redis.call('EXISTS', KEYS[at]) == 0 then
    return 0
  end
end
for at = 3, #KEYS do
  redis.call('PERSIST', KEYS[at])
end
local time = redis.call('TIME')
redis.call('SET', KEYS[1], ARGV[2])
redis.call('ZADD', KEYS[2], time[1] * 1000 + math.floor(time[2] / 1000), ARGV[1])
return 1
