-- Says that a member of the cluster is alive, and what it is.
-- KEYS 1: records of members (hash: name -> JSON)   2: until when each is alive (sorted set of names by Redis' time in ms)
--      3: incarnations (hash: name -> who has the name)
-- ARGV 1: name   2: incarnation: of this process   3: record   4: for how many milliseconds it holds
-- Answers 1, or 0 where another incarnation that is alive has the name.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local untilMs = tonumber(redis.call('ZSCORE', KEYS[2], ARGV[1]) or '0')
if untilMs > now and redis.call('HGET', KEYS[3], ARGV[1]) ~= ARGV[2] then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], now + tonumber(ARGV[4]), ARGV[1])
return 1
