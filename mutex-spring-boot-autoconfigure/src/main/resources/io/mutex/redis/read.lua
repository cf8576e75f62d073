-- What is known of keys: the time, and eight lines for each, all empty for a key that nobody has held. KEYS lock...

local answer = { clock() }
for i = 1, #KEYS do
  local row = readAll(KEYS[i])
  local values = row and describe(row) or { '', '', '', '', '', '', '', '' }
  for j = 1, #values do
    answer[#answer + 1] = values[j]
  end
end
return answer
