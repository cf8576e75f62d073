-- Who holds keys: the time, and for each holder the number of its key and eight lines. KEYS lock, shared...
-- ARGV limit, the greatest number of holders of one key

local answer = { clock() }
for i = 1, #KEYS, 2 do
  for _, holder in ipairs(holders(KEYS[i], KEYS[i + 1], readAll(KEYS[i]), answer[1], ARGV[1])) do
    answer[#answer + 1] = (i - 1) / 2
    for j = 1, #holder do
      answer[#answer + 1] = holder[j]
    end
  end
end
return answer
