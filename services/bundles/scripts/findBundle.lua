-- The list of a bundle, which counts as asked for now.
-- KEYS 1: the list   2: bundles by the time at which they were last asked for
-- ARGV 1: hash
-- Answers the list, or nothing.
local list = redis.call('GET', KEYS[1])
if list then
  local time = redis.call('TIME')
  redis.call('ZADD', KEYS[2], time[1] * 1000 + math.floor(time[2] / 1000), ARGV[1])
end
return list
