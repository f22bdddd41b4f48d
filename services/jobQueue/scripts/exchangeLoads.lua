-- Says what a frontend does, and hears what all do.
--
-- KEYS  1 loads   2 running jobs
-- ARGV  1 the frontend   2 its words   3 after how long one that says nothing is forgotten (ms)
-- Answer  {number of running jobs, frontend, how old its words are (ms), its words, ...} of the others
local loads, running = KEYS[1], KEYS[2]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', loads, ARGV[1], string.format('%.0f', now) .. ' ' .. ARGV[2])
local answer = { redis.call('SCARD', running) }
local all = redis.call('HGETALL', loads)
for i = 1, #all, 2 do
  local said, words = string.match(all[i + 1], '^(%d+) (.*)$')
  local age = said and now - tonumber(said) or math.huge
  if age > tonumber(ARGV[3]) then
    redis.call('HDEL', loads, all[i])
  elseif all[i] ~= ARGV[1] then
    answer[#answer + 1] = all[i]
    answer[#answer + 1] = age
    answer[#answer + 1] = words
  end
end
return answer
