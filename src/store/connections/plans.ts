import type pg from 'pg'

// How the statements that have a name are planned. They find their rows by keys, and those come in lists: PostgreSQL
// would make a plan for each list that it is given, which takes longer than to run it; or, while a table is small, one
// that reads all of it, and would keep that when the table has grown. So they get one plan, which goes from key to key by
// the indexes. All other statements are planned with what they ask for in view.
const named = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
}
const others = {
  plan_cache_mode: 'auto',
  enable_seqscan: 'on',
  enable_bitmapscan: 'on',
  enable_hashjoin: 'on',
  enable_mergejoin: 'on',
}

export type Plans = { areNamed: boolean; isLocal: boolean } // of a session, or of a transaction alone

const sessions = new WeakMap<pg.ClientBase, Plans>()

// A sharded server has to see the values before it knows the shard: there it is left to choose.
export function watchPlans(client: pg.ClientBase, isSharded: boolean) {
  if (!isSharded) sessions.set(client, { areNamed: false, isLocal: false })
}

export const plansOf = (client: pg.ClientBase) => sessions.get(client)

// What a transaction sets ends with it.
export const plansOfTransaction = (plans: Plans | undefined): Plans | undefined =>
  plans && { ...plans, isLocal: true }

// What has to be said before the statement, if anything: mostly one is of the same kind as the one before it.
export function sayWhichPlan(plans: Plans | undefined, isNamed: boolean): string | undefined {
  if (!plans || plans.areNamed === isNamed) return undefined
  plans.areNamed = isNamed
  const set = plans.isLocal ? 'set local' : 'set'
  const settings = Object.entries(isNamed ? named : others)
  return settings.map(([name, value]) => `${set} ${name} = ${value}`).join('; ')
}
