// What one that is slow, stopped or large does to everybody else.
import { expirySection } from './planExpiry.js'
import { knockSection } from './planKnock.js'

const lengths = {
  whole: { knock: { rounds: 3, count: 40 }, expiry: { rounds: 4, measureMs: 3000 } },
  quick: { knock: { rounds: 1, count: 20 }, expiry: { rounds: 1, measureMs: 2000 } },
}

export function trouble(bench, quick) {
  const { knock, expiry } = lengths[quick ? 'quick' : 'whole']
  return [knockSection(bench, knock), expirySection(bench, expiry)]
}
