import type { Actor, AuditEntry } from '../../core/access/audit.ts'
import type { InstallationState } from '../../core/installation/installationState.ts'
import { adoptDatabase, lockIdentity, readSystemIdentifier } from '../../store/installation/copies.ts'
import { type Backlog, readBacklog } from '../../store/installation/backlog.ts'
import { audited } from '../access/audit.ts'
import { listNodes } from './nodes.ts'
import { type DatabaseRoute, readJudgement } from './judgeDatabase.ts'

export type AdoptPlan = { state: InstallationState; addresses: readonly string[]; backlog: Backlog }

// What `adopt` does. The nodes that run on this database keep their routes: each holds a lock, which no copied row has.
export async function planAdopt(route: DatabaseRoute): Promise<AdoptPlan> {
  const { db, address, clock } = route
  const { state } = await readJudgement(route)
  const nodes = (await listNodes(db)).flatMap(({ row, presence }) =>
    row?.is_listening && presence === 'running' ? [row.database_address] : [],
  )
  return {
    state,
    addresses: [...new Set([address, ...nodes].flatMap(one => one.split(' ')))].toSorted(),
    backlog: await readBacklog(db, clock()),
  }
}

// Declares this database the real one, at these addresses and no others.
export async function adopt(
  { db, clock }: DatabaseRoute,
  { state, addresses, backlog }: AdoptPlan,
  actor: Actor,
): Promise<void> {
  const now = clock()
  const system_identifier = await readSystemIdentifier(db)
  const entry: AuditEntry = {
    merchant_id: null,
    action: 'database.adopt',
    subject: addresses.join(' '),
    before: { state: state.is },
    after: { state: 'original', ...backlog },
  }
  await audited(db, actor, now, async (tx, record) => {
    await lockIdentity(tx)
    await adoptDatabase(tx, { address: addresses.join(' '), system_identifier, now })
    await record(entry)
  })
}
