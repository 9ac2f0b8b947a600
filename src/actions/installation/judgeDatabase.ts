import { addressesIn } from '../../core/installation/databaseAddress.ts'
import {
  type DatabaseIdentity,
  hasLiveNodeAtKnownAddress,
  judgeDatabase,
  type Judgement,
  type RouteFacts,
} from '../../core/installation/installationState.ts'
import type { NodeRow } from '../../core/operator/nodeList.ts'
import type { Db } from '../../store/db.ts'
import {
  hasLivePayments,
  lockIdentity,
  readStoredIdentity,
  readSystemIdentifier,
  recordRoute,
} from '../../store/installation/copies.ts'
import { nodeRows } from '../../store/installation/nodes.ts'
import { presentNodes } from '../../store/nodeSession.ts'

export type DatabaseRoute = { db: Db; address: string; embedded: boolean; clock(): Date }

// `nodes`: those of known addresses, if the own one is unknown. A later call compares them with what it reads.
export type Judged = Judgement & { nodes?: readonly NodeRow[]; system_identifier?: string | null }

const noFacts: RouteFacts = { isUsedAtKnownAddress: false, hasOnlyTestPayments: false }

// Whether this database is the installation itself, and whether this route to it is to be recorded. One round trip while the
// route is known. A server keeps its identifier, so it is read again only if this may be another server. Behind a pooler it
// always may be.
export async function readJudgement(
  route: DatabaseRoute,
  before?: Judged,
  isSameServer = false,
): Promise<Judged> {
  const { db, address } = route
  const known = isSameServer && !db.isPooled() ? before?.system_identifier : undefined
  const [stored, system_identifier] = await Promise.all([
    readStoredIdentity(db),
    known ?? readSystemIdentifier(db),
  ])
  const identity = { ...stored, system_identifier }
  const judged = judgeDatabase(identity, address, noFacts)
  if (judged.state.is !== 'copy' || judged.state.why.kind === 'marked')
    return { ...judged, system_identifier }
  const { facts, nodes } = await readRouteFacts(route, identity, before)
  return { ...judgeDatabase(identity, address, facts), nodes, system_identifier }
}

async function readRouteFacts(
  { db, embedded }: DatabaseRoute,
  { addresses }: DatabaseIdentity,
  before: Judged | undefined,
) {
  const [rows, locked] = await Promise.all([nodeRows(db), presentNodes(db)])
  const nodes = rows.filter(row => addressesIn(row.database_address).some(one => addresses.includes(one)))
  const facts: RouteFacts = {
    isUsedAtKnownAddress: hasLiveNodeAtKnownAddress(nodes, { addresses, locked, before: before?.nodes }),
    hasOnlyTestPayments: embedded && !(await hasLivePayments(db)),
  }
  return { facts, nodes }
}

// The same, and records the route if it has to be. Nodes that start at once decide one after the other: the second sees
// what the first has recorded.
export async function judgeAndRecord(
  route: DatabaseRoute,
  before?: Judged,
  isSameServer = false,
): Promise<Judged> {
  const judged = await readJudgement(route, before, isSameServer)
  if (!judged.records) return judged
  const { db, address, clock } = route
  const system_identifier = await readSystemIdentifier(db)
  const facts: RouteFacts = {
    isUsedAtKnownAddress: judged.records === 'another_route',
    hasOnlyTestPayments: judged.records === 'only_test_payments',
  }
  return db.transaction(async tx => {
    await lockIdentity(tx)
    const again = judgeDatabase({ ...(await readStoredIdentity(tx)), system_identifier }, address, facts)
    if (again.records) await recordRoute(tx, { address, system_identifier, now: clock() })
    return again
  })
}
