import { addressesIn } from './databaseAddress.ts'

// A copy of a database holds open payments, due notifications and messages that the original still works on. If nodes on
// both of them act, shops get contradictory notifications, and customers may be charged twice. So a node works on a database
// only if it is the one that the installation has always used: the same server, at an address that the database remembers.

export type InstallationState =
  | { is: 'original' }
  | { is: 'copy'; why: CopyReason }
  | { is: 'moved'; movedTo: string } // its payments are in another database now

export type CopyReason =
  | { kind: 'marked'; words: string } // `tollgate restore` has made it
  | { kind: 'other_server' } // another system identifier
  | { kind: 'unknown_address'; address: string }

// What the database says about itself, and how this process reaches it.
export type DatabaseIdentity = {
  stored?: {
    state: 'original' | 'copy' | 'moved'
    reason: string
    moved_to: string
    system_identifier: string | null // null: the role of the gateway may not read it
  }
  addresses: readonly string[] // at which nodes have used it
  system_identifier: string | null // of the server now
}

// What shows that an unknown address leads to the original. Read only if it is needed.
export type RouteFacts = {
  isUsedAtKnownAddress: boolean // a node that reaches it by a known address is alive
  hasOnlyTestPayments: boolean // asked for the embedded database only; otherwise false
}

// `records`: why the address of this process becomes a known one.
export type Judgement = { state: InstallationState; records?: RecordReason }
export type RecordReason = 'first' | 'another_route' | 'only_test_payments' | 'server_readable'

const original: InstallationState = { is: 'original' }

// `address`: of this process. Several hosts in one DATABASE_URL are one installation, so one of them has to be known. The
// timeline does not matter: a failover keeps the system identifier. A promoted standby at another address is a copy.
export function judgeDatabase(
  { stored, addresses, system_identifier }: DatabaseIdentity,
  address: string,
  { isUsedAtKnownAddress, hasOnlyTestPayments }: RouteFacts,
): Judgement {
  if (stored?.state === 'moved') return { state: { is: 'moved', movedTo: stored.moved_to } }
  if (stored?.state === 'copy')
    return { state: { is: 'copy', why: { kind: 'marked', words: stored.reason } } }
  if (!stored || addresses.length === 0) return { state: original, records: 'first' }
  const before = stored.system_identifier
  const isOtherServer = before !== null && system_identifier !== null && before !== system_identifier
  if (!isOtherServer && addressesIn(address).some(one => addresses.includes(one)))
    return knownAs(original, address, addresses, before === null && system_identifier !== null)
  if (hasOnlyTestPayments) return { state: original, records: 'only_test_payments' }
  if (isOtherServer) return { state: { is: 'copy', why: { kind: 'other_server' } } }
  if (isUsedAtKnownAddress) return { state: original, records: 'another_route' }
  return { state: { is: 'copy', why: { kind: 'unknown_address', address } } }
}

function knownAs(
  state: InstallationState,
  address: string,
  addresses: readonly string[],
  isServerNew: boolean, // its identifier can be read for the first time
): Judgement {
  if (addressesIn(address).some(one => !addresses.includes(one))) return { state, records: 'another_route' }
  return isServerNew ? { state, records: 'server_readable' } : { state }
}

export type NodeOnRoute = {
  node: string
  number: number
  is_listening: boolean
  database_address: string
  seen_at: Date
}

// Whether a node that reaches the database by a known address is alive on this very database: it holds its lock here, or it
// has sent a heartbeat since `before` was read. The rows alone prove nothing, because a copy contains those of the original.
export function hasLiveNodeAtKnownAddress(
  nodes: readonly NodeOnRoute[],
  {
    addresses,
    locked,
    before,
  }: { addresses: readonly string[]; locked: readonly number[]; before?: readonly NodeOnRoute[] },
): boolean {
  const seenBefore = before && new Map(before.map(({ node, seen_at }) => [node, seen_at.getTime()]))
  return nodes.some(
    ({ node, number, is_listening, database_address, seen_at }) =>
      addressesIn(database_address).some(one => addresses.includes(one)) &&
      ((is_listening && locked.includes(number)) ||
        (seenBefore !== undefined && seenBefore.get(node) !== seen_at.getTime())),
  )
}
