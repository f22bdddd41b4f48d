-- Makes a job of what was staged: from here on everybody sees it. Said again, nothing happens.
--
-- KEYS  1 uploads   2 all   3 running   4 cancelled   5 job   6 input   7 results   8 says that it was removed
-- ARGV  1 id   2 its description (JSON)   3 chunks   4 lines   5 created (ms since 1970)   6 lines answered   7 of them failed
--       8 '1': it is cancelled, and has no input
-- Answer  'made'   'there'  it was made before   'gone'  it was made and removed before   'missing'  something was collected
local uploads, all, running, cancelled = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local job, input, results, gone = KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local id, chunks, isCancelled = ARGV[1], tonumber(ARGV[3]), ARGV[8] == '1'
if redis.call('EXISTS', job) == 1 then return 'there' end
if redis.call('EXISTS', gone) == 1 then return 'gone' end
local kept = redis.call('HLEN', results)
if not isCancelled and redis.call('HLEN', input) + kept ~= chunks then return 'missing' end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', job, 'description', ARGV[2], 'chunks', chunks, 'lines', ARGV[4], 'kept', kept,
  'answered', ARGV[6], 'failed', ARGV[7], 'changed', now, 'spooled', '1')
redis.call('ZADD', all, ARGV[5], id)
if isCancelled then
  redis.call('HSET', job, 'cancelled', '1')
  redis.call('SADD', cancelled, id)
elseif kept < chunks then
  redis.call('SADD', running, id)
end
redis.call('ZREM', uploads, id)
return 'made'
