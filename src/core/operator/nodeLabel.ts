// What a node says about itself: the name of its own database connection, which other nodes can read in pg_stat_activity.
// It costs no write, and ends with the connection. PostgreSQL cuts names at 63 bytes.

export type NodeFacts = {
  name: string // of the machine
  version: string
  schema: number // of the last migration that the node has
  clockOffsetMs: number // how far the clock of its machine is ahead of the database's
  isPaused: boolean // its workers pause, because the database's clock has jumped
}

const prefix = 'tollgate node'
const maxLength = 63

export function nodeLabel({ name, version, schema, clockOffsetMs, isPaused }: NodeFacts): string {
  const plainName = name.replace(/[^\w.-]/g, '') || 'unnamed'
  return [prefix, version, schema, clockOffsetMs.toFixed(1), isPaused ? 'paused' : 'working', plainName]
    .join(' ')
    .slice(0, maxLength)
}

// Undefined for a node of an earlier release, which says nothing.
export function readNodeLabel(label: string): NodeFacts | undefined {
  const [, version, schema, offset, state, name] =
    /^tollgate node (\S+) (\d+) (-?[\d.]+) (paused|working) (\S+)$/.exec(label) ?? []
  if (!version || !name) return undefined
  return {
    name,
    version,
    schema: Number(schema),
    clockOffsetMs: Number(offset),
    isPaused: state === 'paused',
  }
}
