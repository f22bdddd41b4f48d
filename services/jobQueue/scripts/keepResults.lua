-- Keeps the results of a chunk, in place of its lines: the first that come.
--
-- KEYS  1 running   2 sizes   3 total   4 job   5 input   6 results
-- ARGV  1 id   2 chunk's number   3 the results   4 lines answered   5 of them failed   6 what all jobs may take (bytes)
-- Answer  'kept'   'there'  it has its results   'gone'  the job is gone or cancelled   'full'
local running, sizes, total, job, input, results = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local id, number, text = ARGV[1], ARGV[2], ARGV[3]
if redis.call('EXISTS', job) == 0 or redis.call('HEXISTS', job, 'cancelled') == 1 then return 'gone' end
if redis.call('HEXISTS', results, number) == 1 then return 'there' end
if redis.call('HEXISTS', input, number) == 0 then return 'gone' end
local lines = redis.call('HSTRLEN', input, number)
if #text > lines and tonumber(redis.call('GET', total) or 0) + #text - lines > tonumber(ARGV[6]) then return 'full' end
local time = redis.call('TIME')
redis.call('HSET', results, number, text)
redis.call('HDEL', input, number)
redis.call('HINCRBY', sizes, id .. ' input', -lines)
redis.call('HINCRBY', sizes, id .. ' results', #text)
redis.call('INCRBY', total, #text - lines)
redis.call('HINCRBY', job, 'answered', ARGV[4])
redis.call('HINCRBY', job, 'failed', ARGV[5])
redis.call('HSET', job, 'changed', time[1] * 1000 + math.floor(time[2] / 1000))
local kept = redis.call('HINCRBY', job, 'kept', 1)
if kept == tonumber(redis.call('HGET', job, 'chunks')) then redis.call('SREM', running, id) end
return 'kept'
