-- Forgets a job. Where the frontend that took it may still have it, what it brings again is known by a mark.
--
-- KEYS  1 all   2 running   3 cancelled   4 sizes   5 total   6 job   7 input   8 results   9 says that it was removed
-- ARGV  1 id   2 for how long that is kept (ms)
-- Answer  'ok'   'unknown'
local all, running, cancelled, sizes, total = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local job, input, results, gone = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local id = ARGV[1]
if redis.call('EXISTS', job) == 0 then return 'unknown' end
if redis.call('HEXISTS', job, 'spooled') == 1 then redis.call('SET', gone, '1', 'PX', ARGV[2]) end
for _, what in ipairs({ ' input', ' results' }) do
  redis.call('DECRBY', total, redis.call('HGET', sizes, id .. what) or 0)
  redis.call('HDEL', sizes, id .. what)
end
redis.call('UNLINK', job, input, results)
redis.call('ZREM', all, id)
redis.call('SREM', running, id)
redis.call('SREM', cancelled, id)
return 'ok'
