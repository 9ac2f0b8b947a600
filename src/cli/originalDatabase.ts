import { setTimeout as sleep } from 'node:timers/promises'
import { readJudgement } from '../actions/installation/judgeDatabase.ts'
import { notOriginalText } from '../core/installation/installationTexts.ts'
import { heartbeatMs } from '../core/operator/nodeList.ts'
import type { CommandContext } from './database.ts'
import { refused } from './failure.ts'
import { printProgress } from './terminal.ts'

const waitMs = 1.5 * heartbeatMs
const stepMs = 1000

// For commands that move live money or send something: refused on a copy of the database. At another address than those of
// the nodes, a heartbeat of a node shows that it is the same database.
export async function requireOriginalDatabase(context: CommandContext): Promise<void> {
  const first = await readJudgement(context)
  let { state } = first
  const mayBeUsed = first.nodes?.some(node => node.seen_ms_ago < waitMs)
  const until = performance.now() + (mayBeUsed ? waitMs : 0)
  if (state.is === 'copy' && mayBeUsed) printProgress('Waiting for a sign of a node on this database')
  while (state.is === 'copy' && performance.now() < until) {
    await sleep(stepMs)
    state = (await readJudgement(context, first)).state
  }
  const why = notOriginalText(state)
  if (why) throw refused(`Nothing was changed. ${why}`)
}
