import { type Db, sql } from '../db.ts'

const firstMs = 1000 // by then it waits, and has not given up yet
const againMs = 5000

export type Holders = { words(): string; stop(): void }

// Whom a session waits for. Who has to be patient wants to know with whom.
export function watchHolders(db: Db, pid: number): Holders {
  let words = ''
  let timer = setTimeout(look, firstMs)
  function look() {
    holdersOf(db, pid).then(
      found => (words = found),
      () => {}, // then nobody is named
    )
    timer = setTimeout(look, againMs)
  }
  return { words: () => words, stop: () => clearTimeout(timer) }
}

async function holdersOf(db: Db, pid: number): Promise<string> {
  const rows = await db.rows<{ who: string }>(sql`
    select format('process %s (%s, %s)', pid, coalesce(nullif(application_name, ''), 'without a name'), state) as who
    from pg_stat_activity where pid = any(pg_blocking_pids(${pid})) order by xact_start`)
  return rows.map(({ who }) => who).join(', ')
}
