import { Client } from 'pg'

// Somebody holds rows, as a node does that stands still in the middle of its work; gives back how to let them go.
export async function lockRows(url: string, text: string, values: unknown[] = []): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {}) // cut with its database
  await client.connect()
  await client.query('begin')
  const { rowCount } = await client.query(`${text} for update`, values)
  if (!rowCount) throw new Error('there is nothing to hold')
  return () => client.end()
}
