-- Gives a lease up, where it is still its holder's.
-- KEYS 1: the lease
-- ARGV 1: who held it
-- Answers 1 if it was given up, 0 if it is somebody else's or nobody's.
if redis.call('HGET', KEYS[1], 'holder') ~= ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])
