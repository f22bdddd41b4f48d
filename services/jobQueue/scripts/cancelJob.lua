-- Asks no further lines of a job: those without an answer go.
--
-- KEYS  1 running   2 cancelled   3 sizes   4 total   5 job   6 input
-- ARGV  1 id
-- Answer  'ok'   'over'  it is done or cancelled   'unknown'
local running, cancelled, sizes, total, job, input = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local id = ARGV[1]
if redis.call('EXISTS', job) == 0 then return 'unknown' end
if redis.call('SREM', running, id) == 0 then return 'over' end
redis.call('HSET', job, 'cancelled', '1')
redis.call('SADD', cancelled, id)
redis.call('DECRBY', total, redis.call('HGET', sizes, id .. ' input') or 0)
redis.call('HDEL', sizes, id .. ' input')
redis.call('UNLINK', input)
return 'ok'
