-- Begins a session of a writer, after finding out whether this is the Redis that the writer knows.
-- A session fences off what former connections of the same writer may still bring: `write.lua` takes one session only.
--
-- KEYS  1 meta (hash: schema, epoch, seq, tip: who made that change, behind)   2 state (hash)   3 changes (stream) of the epoch that the writer
--       knows   4 the writer's own (hash: session, last, pruned, and for each write that was made and may not be known to be: its
--         number -> 'version seq')   5 boots (hash: run id of a Redis -> seq that was first seen in it)   6 a key to try
-- ARGV  1 session   2 epoch that the writer knows, '' for none   3 seq that it has seen   4 who made that change, '' for
--       none   5 epoch to begin with where there is none   6 newest schema that the program knows   7 lifetime of the
--       writer's key in ms   8… run ids that it knows
-- Answer  {'ok', epoch, seq, run ids, writes made}   the last two flat lists; of a new installation epoch is ARGV[5]
--         {'newer', epoch, seq}      somebody has repaired: load everything anew, then open with that epoch
--         {'behind', epoch, seq, words}   this Redis has lost changes, or is another one; nobody may write
--         {'schema', schema}         a newer program wrote it
--         {'foreign'}                there is data without a meta key
local meta, state, changes, writer, boots, trial = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local session, known, knownSeq, tip = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local found = redis.call('HMGET', meta, 'schema', 'epoch', 'seq', 'behind', 'tip')
local schema, epoch, seq, behind = found[1], found[2] or '', found[3] or '0', found[4]
if schema and tonumber(schema) > tonumber(ARGV[6]) then return { 'schema', schema } end

-- All that write.lua needs, on a key of its own: a permission that lacks must not stop a write half-way.
redis.call('XADD', trial, 'MAXLEN', '~', '1', '*', 'k', 'v')
redis.call('XRANGE', trial, '-', '+')
redis.call('DEL', trial)
redis.call('HSET', trial, 'a', '1')
redis.call('HDEL', trial, 'a')
redis.call('SET', trial, '1', 'PX', '1000')
redis.call('EXISTS', trial)
redis.call('PEXPIRE', trial, '1000')
redis.call('DEL', trial)

if epoch == '' and known == '' and not behind then
  if redis.call('EXISTS', state) > 0 then return { 'foreign' } end
  epoch = ARGV[5]
  redis.call('HSET', meta, 'schema', ARGV[6], 'epoch', epoch, 'seq', seq)
end

-- A Redis that was started again from what lay on its disk goes on from there, however far that is back.
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
if run and epoch ~= '' then redis.call('HSETNX', boots, run, seq) end
local started = redis.call('HGETALL', boots)

if known ~= '' and not behind then
  local words = 'a frontend knows change ' .. knownSeq .. ' of epoch ' .. known
  if epoch == '' then
    behind = words .. ', and this Redis is empty'
  elseif epoch ~= known then
    local function number(text) return tonumber(string.match(text, '^%d+')) or 0 end
    if number(epoch) > number(known) then return { 'newer', epoch, seq } end
    behind = words .. ', and this Redis has epoch ' .. epoch
  elseif tonumber(seq) < tonumber(knownSeq) then
    behind = words .. ', and this Redis has changes up to ' .. seq .. ' only'
  else
    local there = redis.call('XRANGE', changes, knownSeq .. '-0', knownSeq .. '-0')
    if not there[1] and seq == knownSeq then there = { { '', { 'w', found[5] or '' } } } end
    if there[1] then
      if there[1][2][2] ~= tip then
        behind = words .. ', and this Redis has another change of that number'
      end
    else
      -- It is too old to be there still: then only where a Redis began tells whether it had it.
      local isKnown = {}
      for i = 8, #ARGV do isKnown[ARGV[i]] = true end
      for i = 1, #started, 2 do
        if not isKnown[started[i]] and tonumber(started[i + 1]) < tonumber(knownSeq) then
          behind = words .. ', and this Redis was started with changes up to ' .. started[i + 1] .. ' only'
        end
      end
    end
  end
  if behind then redis.call('HSET', meta, 'behind', behind) end
end
if behind then return { 'behind', epoch, seq, behind } end

redis.call('HSET', writer, 'session', session, 'last', '0')
redis.call('PEXPIRE', writer, ARGV[7])
local runs = {}
for i = 1, #started, 2 do runs[#runs + 1] = started[i] end
local made = {}
local fields = redis.call('HGETALL', writer)
for i = 1, #fields, 2 do
  if tonumber(fields[i]) then
    made[#made + 1] = fields[i]
    made[#made + 1] = fields[i + 1]
  end
end
return { 'ok', epoch, seq, runs, made }
