-- Makes what was written to a key beside it the state, under a new epoch.
--
-- KEYS  1 meta   2 state   3 changes of the epoch that is replaced   4 boots   5 the new state (hash), absent where it is empty
-- ARGV  1 epoch that is replaced, '' for none   2 the new epoch   3 its first seq   4 schema   5 entries of the new state
-- Answer  {'ok'}   {'changed', epoch}  somebody has repaired meanwhile   {'incomplete', entries found}
local meta, state, changes, boots, new = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local epoch = redis.call('HGET', meta, 'epoch') or ''
if epoch ~= ARGV[1] then return { 'changed', epoch } end
local entries = redis.call('HLEN', new)
if entries ~= tonumber(ARGV[5]) then return { 'incomplete', tostring(entries) } end
redis.call('UNLINK', meta, state, changes, boots)
if entries > 0 then
  redis.call('PERSIST', new)
  redis.call('RENAME', new, state)
end
redis.call('HSET', meta, 'schema', ARGV[4], 'epoch', ARGV[2], 'seq', ARGV[3])
return { 'ok' }
