-- Compare-and-set of one key, in one with its marks, its number in the order of all changes, and the change for followers.
-- Values are opaque text here: nothing decodes them, so numbers and strings stay what they are.
--
-- KEYS  1 meta   2 state (hash: key -> 'version json'), or the folder of a cold key   3 changes of the epoch (stream, ids 'seq-0': w writer:number, p the same of the
--       change before, k key, v 'version json', or 'version' for a deletion)   4 the writer's own (see open.lua)   5… one for each mark
-- ARGV  1 epoch   2 session   3 number of this write, ascending   4 number of the write before it in this session, 0 for
--       the first   5 all up to this number are known to be made or not   6 writer   7 key   8 expected version, 'any' or 0
--       for absent   9 number of the write that this one builds on, 0 for none   10 '1' where a value is set, '0' for a
--       deletion   11 json   12 changes that followers find at least   13 lifetime of the writer's key in ms
--       14 lifetime of a mark in ms.   Without any ARGV it does nothing: so it is loaded.
-- Answer  {'ok', version, seq}   {'conflict', seq, 'version json' or ''}   {'marked', seq, index of each mark, from 1}
--         {'epoch'}    not the state that the writer knows, or one that is behind
--         {'session'}  the writer has begun another session
--         {'order'}    the write before has not come: nothing is done
if #ARGV == 0 then return { 'loaded' } end
local meta, state, changes, writer = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local number, key = ARGV[3], ARGV[7]

local found = redis.call('HMGET', meta, 'epoch', 'seq', 'behind', 'tip')
if found[1] ~= ARGV[1] or found[3] then return { 'epoch' } end
local own = redis.call('HMGET', writer, 'session', 'last', 'pruned', ARGV[9])
if own[1] ~= ARGV[2] then return { 'session' } end
if own[2] ~= ARGV[4] then return { 'order' } end

-- First of all what may be refused (full, read-only, a permission that was taken away), where nothing depends on it yet.
redis.call('HSET', writer, 'trial', '1')
redis.call('HDEL', writer, 'trial')
redis.call('PEXPIRE', writer, ARGV[13])

local function tidy()
  redis.call('HSET', writer, 'last', number, 'pruned', ARGV[5])
  for i = tonumber(own[3] or ARGV[5]) + 1, tonumber(ARGV[5]) do
    redis.call('HDEL', writer, string.format('%.0f', i))
  end
end

local answer = { 'marked', found[2] }
for i = 5, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 then answer[#answer + 1] = tostring(i - 4) end
end
if #answer > 2 then
  tidy()
  return answer
end

local present = redis.call('HGET', state, key)
local version = present and string.match(present, '^%d+') or '0'
local isBuiltOnNothing = ARGV[9] ~= '0' and not own[4]
if isBuiltOnNothing or (ARGV[8] ~= 'any' and ARGV[8] ~= version) then
  tidy()
  return { 'conflict', found[2], present or '' }
end

local seq = string.format('%.0f', tonumber(found[2]) + 1)
version = string.format('%.0f', tonumber(version) + 1)
local isDeletion = ARGV[10] ~= '1'
local entry = isDeletion and version or (version .. ' ' .. ARGV[11])
local tip = ARGV[6] .. ':' .. number
for i = 5, #KEYS do redis.call('SET', KEYS[i], '1', 'PX', ARGV[14]) end
local added =
  redis.pcall('XADD', changes, 'MAXLEN', '~', ARGV[12], seq .. '-0', 'w', tip, 'p', found[4] or '', 'k', key, 'v', entry)
if type(added) == 'table' and added.err then
  for i = 5, #KEYS do redis.call('DEL', KEYS[i]) end
  return added
end
if isDeletion then redis.call('HDEL', state, key) else redis.call('HSET', state, key, entry) end
redis.call('HSET', meta, 'seq', seq, 'tip', tip)
redis.call('HSET', writer, number, version .. ' ' .. seq)
tidy()
return { 'ok', version, seq }
