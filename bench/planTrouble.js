// What one that is slow, stopped or large does to everybody else.
import { knockSection } from './planKnock.js'

const lengths = {
  whole: { knock: { rounds: 3, count: 40 } },
  quick: { knock: { rounds: 1, count: 20 } },
}

export function trouble(bench, quick) {
  const { knock } = lengths[quick ? 'quick' : 'whole']
  return [knockSection(bench, knock)]
}
