// The straight way without pgbench: 32 connections of a plain client, one prepared statement in flight on each.
import { Client } from 'pg'
import { serveJobs, startClock } from '../load/clock.js'
import { straightStatement } from './straight.js'

serveJobs(async job => {
  const { url, kind, merchant, connections, base, stored } = job
  const text = straightStatement(kind, merchant, { key: '$1::text', tail: '$2::text', n: '$1::text' })
  const clients = await Promise.all(Array.from({ length: connections }, () => connect(url)))
  const clock = startClock(job)
  let next = BigInt(base)
  const valuesFor = {
    initiation: () => [String(next++), String(1e12 + Math.floor(Math.random() * 8e12))],
    status: () => [String(1 + Math.floor(Math.random() * stored))],
  }[kind]
  const run = async client => {
    while (!clock.isOver()) {
      const started = performance.now()
      await client.query({ name: kind, text, values: valuesFor() })
      clock.record(started)
    }
  }
  try {
    await Promise.all(clients.map(run))
    return await clock.result()
  } finally {
    clock.cancel()
    await Promise.all(clients.map(client => client.end()))
  }
})

async function connect(url) {
  const client = new Client({ connectionString: url, application_name: 'bench' })
  await client.connect()
  return client
}
