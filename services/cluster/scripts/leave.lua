-- A member is gone, by its own word.
-- KEYS 1: records   2: until when each is alive   3: incarnations
-- ARGV 1: name   2: incarnation
-- Answers 1, or 0 where the name is another incarnation's by now.
if redis.call('HGET', KEYS[3], ARGV[1]) ~= ARGV[2] then
  return 0
end
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[3], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
return 1
