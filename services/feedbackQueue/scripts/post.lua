-- A message for a frontend, if it is there.
-- KEYS 1: says that the frontend is there   2: its messages (list)
-- ARGV 1: the message   2: how long messages are kept for a frontend that reads none (ms)
-- Answers 1, or 0 where there is no such frontend.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
redis.call('RPUSH', KEYS[2], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 1
