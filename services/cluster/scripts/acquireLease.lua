-- Takes a lease, or renews it for its holder.
-- KEYS 1: the lease (hash: holder, token)   2: the last fencing token given out (string)
-- ARGV 1: who asks   2: for how many milliseconds
-- Answers {1, token} to the holder, {0, who holds it, for how many more milliseconds} to anybody else.
-- A token is larger than every one before it, also after Redis lost data: it is at least the present time.
local holder = redis.call('HGET', KEYS[1], 'holder')
if holder == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return { 1, redis.call('HGET', KEYS[1], 'token') }
end
if holder then
  return { 0, holder, redis.call('PTTL', KEYS[1]) }
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local last = tonumber(redis.call('GET', KEYS[2]) or '0')
local token = string.format('%.0f', math.max(last + 1, now))
redis.call('SET', KEYS[2], token)
redis.call('HSET', KEYS[1], 'holder', ARGV[1], 'token', token)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return { 1, token }
