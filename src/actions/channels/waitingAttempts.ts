import { isSameAccount, whyNotSetUp } from '../../core/channel/accountIdentity.ts'
import type { OpenChannels } from '../../runtime/channels.ts'
import { countOpenByIdentity } from '../../store/channels/businesses.ts'
import type { Tx } from '../../store/db.ts'

export type WaitingAttempts = { account: string; attempts: number; why: string }

// Open attempts that no gateway with these accounts asks about, and why. An account that cannot be opened here may be open
// on a gateway, so nothing is said of it.
export async function waitingAttempts(
  tx: Tx,
  channels: Pick<OpenChannels, 'opened' | 'accounts'>,
): Promise<WaitingAttempts[]> {
  const opened = channels.opened()
  const faulty = new Set(channels.accounts().flatMap(({ account, fault }) => (fault ? [account] : [])))
  const found = new Map<string, WaitingAttempts>()
  for (const { attempts, ...one } of await countOpenByIdentity(tx)) {
    const here = opened.find(({ account }) => account === one.channel)
    if (faulty.has(one.channel) || (here && isSameAccount(one, here))) continue
    const why = whyNotSetUp(one, here)
    const before = found.get(why)?.attempts ?? 0
    found.set(why, { account: one.channel, attempts: before + attempts, why })
  }
  return [...found.values()]
}
