-- Keeps a chunk of a job that nobody sees yet. What is kept already is not counted twice.
--
-- KEYS  1 uploads   2 sizes   3 total   4 input of the job   5 results of the job   6 job
-- ARGV  1 id   2 chunk's number   3 its lines, '' where it has its results   4 its results   5 what all jobs may take (bytes)
--       6 for how long an upload is kept that gets nothing more (ms)
-- Answer  'ok'   'full'   'there'  the job is whole already
local uploads, sizes, total, input, results, job = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local id, number = ARGV[1], ARGV[2]
if redis.call('EXISTS', job) == 1 then return 'there' end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', uploads, now + tonumber(ARGV[6]), id)
if redis.call('HEXISTS', input, number) == 1 or redis.call('HEXISTS', results, number) == 1 then return 'ok' end
local isInput = ARGV[3] ~= ''
local text = isInput and ARGV[3] or ARGV[4]
if tonumber(redis.call('GET', total) or 0) + #text > tonumber(ARGV[5]) then return 'full' end
redis.call('HSET', isInput and input or results, number, text)
redis.call('HINCRBY', sizes, id .. (isInput and ' input' or ' results'), #text)
redis.call('INCRBY', total, #text)
return 'ok'
