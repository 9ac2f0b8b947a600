import { Client } from 'pg'

// Locks rows, as a node does that pauses in the middle of a transaction. Returns the function that releases them.
export async function lockRows(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {}) // its connection is terminated with the database
  await client.connect()
  await client.query('begin')
  const { rowCount } = await client.query(`${text} for update`, values)
  if (!rowCount) throw new Error('there is nothing to lock')
  return () => client.end()
}
