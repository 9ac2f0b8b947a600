import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../store/db.ts'
import { sendWakeUp } from '../../store/wakeUp.ts'
import { type NodeSession, openNodeSession } from '../../store/nodeSession.ts'

const heardWithinMs = 2000

export class CannotListen extends Error {}

// A connection to hear the other nodes on, proved: a word that another connection says has to come. Behind a pooler
// that gives each transaction another connection it does not, and a lock would be held by nobody in particular.
export async function openListener(
  db: Db,
  number: number,
  hear: (words: string) => void,
): Promise<NodeSession> {
  const proof = `proof ${number}`
  const heard = new AbortController()
  const line = await openNodeSession(db.url, number, words => (words === proof ? heard.abort() : hear(words)))
  try {
    await sendWakeUp(db, proof)
    await sleep(heardWithinMs, undefined, { signal: heard.signal }).catch(() => {})
    if (!heard.signal.aborted) throw new CannotListen('nothing that other connections say is heard')
    return line
  } catch (error) {
    void line.close().catch(() => {})
    throw error
  }
}
