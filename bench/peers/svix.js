// Svix: Redis as its queue, PostgreSQL for messages and attempts. Not run: written from its source and documentation.
import { join } from 'node:path'
import { freePort } from '../endpoints/freePort.js'
import { callApi, idOf, messageOf, postBytes } from './api.js'
import { startRedis } from './brokers.js'
import { runChild, startChild } from './child.js'
import { findProgram } from './programs.js'

export const peer = { id: 'svix', label: 'Svix', needs: ['svix', 'redis'] }
export const accepted = '202'

const eventType = 'payment'
const timeoutSeconds = '10' // as Tollgate's
const connections = '20' // of each of its two processes: the server of the bench takes 60

export async function openPeer(databaseUrl, urls, folder) {
  const redis = await startRedis(join(folder, 'redis'))
  const env = settings(databaseUrl, redis.port)
  const program = findProgram('svix')
  const run = (...args) => runChild(program, args, { folder, name: `svix-server ${args[0]}`, env })
  await run('migrate')
  const token = /eyJ[\w.-]+/.exec(await run('jwt', 'generate'))?.[0]
  const [apiPort, workerPort] = [await freePort(), await freePort()]
  const start = (part, port, own, ready = {}) =>
    startChild(program, [], {
      folder,
      name: `svix-${part}`,
      port,
      env: { ...env, SVIX_LISTEN_ADDRESS: `127.0.0.1:${port}`, ...own },
      ...ready,
    })
  return {
    target: { port: apiPort, token },
    brokers: [redis],
    startFront: async () => [await start('api', apiPort, { SVIX_WORKER_ENABLED: 'false' })],
    // Its worker listens nowhere.
    startWorkers: async () => [
      await start('worker', workerPort, { SVIX_API_ENABLED: 'false' }, { isReady: () => true }),
    ],
    createEndpoints: () => Promise.all(urls.map((url, at) => createEndpoint(apiPort, token, url, at))),
  }
}

const settings = (databaseUrl, redisPort) => ({
  SVIX_DB_DSN: databaseUrl,
  SVIX_DB_POOL_MAX_SIZE: connections,
  SVIX_REDIS_DSN: `redis://127.0.0.1:${redisPort}`,
  SVIX_QUEUE_TYPE: 'redis',
  SVIX_CACHE_TYPE: 'memory', // what it advises for one node
  SVIX_JWT_SECRET: 'bench',
  SVIX_MAIN_SECRET: 'bench',
  SVIX_WORKER_REQUEST_TIMEOUT: timeoutSeconds,
  SVIX_WHITELABEL_HEADERS: 'true', // the id goes by the name that the receiver knows
  SVIX_WHITELIST_SUBNETS: '[127.0.0.1/32]',
  SVIX_LOG_LEVEL: 'info', // the least that it has
})

const appOf = at => `app-${at}`

async function createEndpoint(port, token, url, at) {
  const base = `http://127.0.0.1:${port}/api/v1/app`
  await callApi(`${base}/`, { token, body: { name: appOf(at), uid: appOf(at) } })
  await callApi(`${base}/${appOf(at)}/endpoint/`, { token, body: { url, version: 1 } })
}

export function requestOf({ token }, endpoint, n) {
  const id = idOf(endpoint, n)
  const body = { eventType, eventId: id, payload: messageOf(id) }
  return { id, bytes: postBytes(`/api/v1/app/${appOf(endpoint)}/msg/`, token, body) }
}

// It gives a message its own id, which the receiver sees.
export const idIn = answer => JSON.parse(answer).id
