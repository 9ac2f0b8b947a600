import pg from 'pg'
import { HostClient } from '../connections/hostClient.ts'

// Creates a database on the server of a URL, whose role needs createdb.
export async function createScratchDatabase(serverUrl: string, name: string) {
  const run = async (text: string) => {
    const client = new HostClient(serverUrl, { application_name: 'tollgate verify' })
    client.on('error', () => {})
    await client.connect()
    try {
      await client.query(text)
    } finally {
      await client.end()
    }
  }
  await run(`create database ${pg.escapeIdentifier(name)} template template0 encoding 'UTF8'`)
  return {
    url: withDatabase(serverUrl, name),
    remove: () => run(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`),
  }
}

export const withDatabase = (url: string, name: string) =>
  url.replace(/^(postgres(?:ql)?:\/\/[^/?]*)(?:\/[^?]*)?/, `$1/${name}`)
