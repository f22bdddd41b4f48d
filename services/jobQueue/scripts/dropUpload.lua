-- Forgets what was staged of a job that was not made.
--
-- KEYS  1 uploads   2 sizes   3 total   4 input   5 results
-- ARGV  1 id   2 '1': only if it has got nothing for too long
-- Answer  1 if it is gone now, 0 if there was none, or it is young
local uploads, sizes, total, input, results = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local id = ARGV[1]
local ends = redis.call('ZSCORE', uploads, id)
if not ends then return 0 end
local time = redis.call('TIME')
if ARGV[2] == '1' and tonumber(ends) > time[1] * 1000 + math.floor(time[2] / 1000) then return 0 end
for _, what in ipairs({ ' input', ' results' }) do
  redis.call('DECRBY', total, redis.call('HGET', sizes, id .. what) or 0)
  redis.call('HDEL', sizes, id .. what)
end
redis.call('UNLINK', input, results)
redis.call('ZREM', uploads, id)
return 1
