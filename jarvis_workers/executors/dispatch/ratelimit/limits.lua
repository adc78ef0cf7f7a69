-- Share the limits of one model among processes: concurrency slots max-min fair by demand, start times by GCRA.
-- KEYS[1] is the state of the model as JSON, ARGV[1] the report of a process (client.py, report); the response is what
-- client.py, apply, reads. All times are this server's, in seconds. AIMD and GCRA are those of models/ratelimit/policy.py.

-- Start times are granted this many seconds ahead; the process reports again before they have passed.
local AHEAD = 0.4
-- Slots that cannot be shared equally rotate among the processes, one turn per ROUND_SECONDS.
local ROUND_SECONDS = 5
-- The maximum number of free slots granted beyond the demand, so that the next requests need no report first.
local SPARE = 100
-- The state of an unused model expires.
local KEPT_SECONDS = 7 * 86400

local clock = redis.call('TIME')
local now = tonumber(clock[1]) + tonumber(clock[2]) / 1000000
local told = cjson.decode(ARGV[1])
-- The constants of models/ratelimit/policy.py.
local policy = told.policy
local MANY, CALM, RAISE = policy.many, policy.calm, policy.raise
local USUAL_PAUSE, LONGEST_DOUBLED = policy.usual_pause, policy.longest_doubled
local LONGEST_PAUSE = policy.longest_pause

-- The server's clock was set back by at least `seconds` since the state was kept; start times would wait for it.
local function set_back(state, seconds)
  state.born, state.closed = math.min(state.born - seconds, now), state.closed - seconds
  for name, at in pairs(state.steps) do state.steps[name] = at - seconds end
  for _, row in pairs(state.holders) do row.till = row.till - seconds end
end

local function recall()
  local text = redis.call('GET', KEYS[1])
  if text then
    local state = cjson.decode(text)
    set_back(state, math.max((state.kept or now) - now, 0))
    return state
  end
  local state = {born = now, most = told.most, allowed = told.most, wave = 0, refused = 0, answers = 0, closed = 0}
  state.steps, state.holders = {}, {}
  return state
end

local function keep(state)
  state.kept = now
  redis.call('SET', KEYS[1], cjson.encode(state), 'EX', KEPT_SECONDS)
end

local function follow_settings(state)
  if state.most ~= told.most then
    state.allowed = (state.allowed == state.most) and told.most or math.min(state.allowed, told.most)
    state.most = told.most
  end
  for _, rate in ipairs(told.rates) do
    -- Start times granted before a data loss may still be used.
    state.steps[rate.name] = state.steps[rate.name] or now + rate.sooner + AHEAD
    if rate.counts == 'tokens' then state.steps[rate.name] = state.steps[rate.name] + told.debt * rate.each end
    state.steps[rate.name] = math.min(state.steps[rate.name], now + LONGEST_PAUSE)
  end
end

local function look_round(state)
  local all = {names = {}, held = 0, inside = 0, demand = told.demand}
  for name, row in pairs(state.holders) do
    if row.till <= now or row.till > now + 2 * told.lease then
      state.holders[name] = nil
    elseif name ~= told.holder then
      table.insert(all.names, name)
      all.held, all.inside, all.demand = all.held + row.held, all.inside + row.inside, all.demand + row.demand
    end
  end
  table.insert(all.names, told.holder)
  table.sort(all.names)
  return all
end

local function slow_down(state, inside)
  local asked = math.min(told.again, LONGEST_PAUSE)
  if told.refused_wave == state.wave then
    state.allowed = math.max(math.floor(math.min(state.allowed, inside) / 2), 1)
    state.wave, state.answers = state.wave + 1, 0
    if state.refused > 0 then
      local doubled = (asked > 0 and asked or USUAL_PAUSE) * 2 ^ math.min(state.refused, 9)
      asked = math.max(asked, math.min(doubled, LONGEST_DOUBLED))
    end
    state.refused = state.refused + 1
  end
  state.closed = math.max(state.closed, now + asked)
end

local function take_answers(state)
  state.refused, state.answers = 0, state.answers + told.answers
  local enough = math.min(state.allowed, CALM)
  while state.allowed < state.most and state.answers >= enough do
    state.answers = state.answers - enough
    state.allowed = math.min(math.floor(state.allowed * RAISE) + 1, state.most)
    enough = math.min(state.allowed, CALM)
  end
  if state.allowed == state.most then state.answers = 0 end
end

local function demand_of(state, name)
  return name == told.holder and told.demand or state.holders[name].demand
end

-- Max-min fairness: demands below the level are met, all others get the level.
local function level(state, all)
  local demands, left = {}, state.allowed
  for _, name in ipairs(all.names) do table.insert(demands, demand_of(state, name)) end
  table.sort(demands)
  for place, demand in ipairs(demands) do
    local each = left / (#demands - place + 1)
    if demand > each then return each end
    left = left - demand
  end
end

local function fair_part(state, all)
  if all.demand <= state.allowed then
    return told.demand + math.min(math.floor((state.allowed - all.demand) / (#all.names + 1)), SPARE)
  end
  local most, sum, turn = level(state, all), 0, math.floor(now / ROUND_SECONDS) / #all.names % 1 + 1e-9
  for _, name in ipairs(all.names) do
    local before = sum
    sum = sum + math.min(demand_of(state, name), most)
    if name == told.holder then return math.floor(sum + turn) - math.floor(before + turn) end
  end
end

-- For one lease after a data loss no process gets more than it had, since others may not have reported yet.
local function slots(state, all)
  local mine, young = state.holders[told.holder], state.most < MANY and now < state.born + told.lease
  local part = young and (mine and mine.held or told.held) or fair_part(state, all)
  local granted = math.max(math.min(part, state.allowed - all.held), 0)
  if granted >= told.demand then return granted, told.renew end
  return granted, young and state.born + told.lease - now or AHEAD
end

local function begins(state)
  local start = now
  for _, rate in ipairs(told.rates) do start = math.max(start, state.steps[rate.name] - rate.sooner) end
  return start
end

local function beginnings(state, all, granted)
  local starts, spent, part = {}, 0, AHEAD * told.demand / all.demand
  for place = 1, math.min(#told.tokens, granted - told.inside - told.ready) do
    local start = begins(state)
    if start > now + AHEAD then return starts, math.max(start - AHEAD - now, AHEAD / 2), true end
    if spent >= part then return starts, AHEAD / 2, true end
    local most = 0
    for _, rate in ipairs(told.rates) do
      local cost = rate.each * (rate.counts == 'tokens' and told.tokens[place] or 1)
      state.steps[rate.name] = math.max(state.steps[rate.name], start) + cost
      most = math.max(most, cost)
    end
    spent = spent + most
    table.insert(starts, start - now)
  end
  return starts, told.renew, false
end

local state = recall()
follow_settings(state)
local all = look_round(state)
if told.again >= 0 then slow_down(state, all.inside + told.refused_inside) end
if told.answers > 0 and told.wave == state.wave then take_answers(state) end
if told.leaves then
  state.holders[told.holder] = nil
  keep(state)
  return cjson.encode({granted = 0, wave = state.wave, closed = 0, starts = {}, wait = told.renew,
    wants_slots = false, wants_starts = false})
end
local granted, wait = slots(state, all)
local closed = math.max(state.closed - now, 0)
local starts, later, more = {}, math.max(closed, AHEAD / 2), true
if closed == 0 then starts, later, more = beginnings(state, all, granted) end
-- Requests in flight above the share continue; no request starts until their number is below it.
local held = math.max(granted, told.inside)
state.holders[told.holder] = {held = held, inside = told.inside, demand = told.demand, till = now + told.lease}
keep(state)
return cjson.encode({
  granted = granted, wave = state.wave, closed = closed, starts = starts,
  wait = math.min(wait, later, told.renew), wants_slots = granted < told.demand, wants_starts = more,
})
