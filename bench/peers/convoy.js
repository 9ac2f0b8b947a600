// Convoy: Redis as its queue, PostgreSQL for events and what came of them.
import { join } from 'node:path'
import { freePort } from '../endpoints/freePort.js'
import { callApi, idOf, messageOf, postBytes } from './api.js'
import { startRedis } from './brokers.js'
import { runChild, startChild } from './child.js'
import { findProgram } from './programs.js'

export const peer = { id: 'convoy', label: 'Convoy', needs: ['convoy', 'redis'] }
export const accepted = '201'

const eventType = 'payment'
const timeoutSeconds = 10 // as Tollgate's
const connections = '20' // of each of its two processes: the server of the bench takes 60
const nowhere = 'http://127.0.0.1:9' // its licence service: it runs without a licence, and sends no request outside

export async function openPeer(databaseUrl, urls, folder) {
  const redis = await startRedis(join(folder, 'redis'))
  const env = settings(databaseUrl, redis.port, folder)
  const program = findProgram('convoy')
  const run = (...args) => runChild(program, args, { folder, name: `convoy ${args[0]}`, env })
  await run('migrate', 'up')
  const [port, agentPort] = [await freePort(), await freePort()]
  const target = { port }
  const start = (service, at) =>
    startChild(program, [service, '--port', String(at)], { folder, name: `convoy-${service}`, port: at, env })
  return {
    target,
    brokers: [redis],
    startFront: async () => [await start('server', port)],
    startWorkers: async () => [await start('agent', agentPort)],
    createEndpoints: async () => Object.assign(target, await createEndpoints(port, urls)),
  }
}

const settings = (databaseUrl, redisPort, folder) => ({
  HOME: folder,
  CONVOY_ENV: 'production',
  CONVOY_DB_DSN: `${databaseUrl}&sslmode=disable`,
  CONVOY_DB_MAX_OPEN_CONN: connections,
  CONVOY_DB_MAX_IDLE_CONN: connections,
  CONVOY_REDIS_SCHEME: 'redis',
  CONVOY_REDIS_HOST: '127.0.0.1',
  CONVOY_REDIS_PORT: String(redisPort),
  CONVOY_REDIS_DATABASE: '0',
  CONVOY_NATIVE_REALM_ENABLED: 'true',
  CONVOY_JWT_REALM_ENABLED: 'true',
  CONVOY_JWT_SECRET: 'bench',
  CONVOY_JWT_REFRESH_SECRET: 'bench',
  CONVOY_ANALYTICS_ENABLED: 'false',
  CONVOY_LICENSE_SERVICE_HOST: nowhere,
  CONVOY_SSO_SERVICE_HOST: nowhere,
  CONVOY_LOGGER_LEVEL: 'error',
  CONVOY_INSTANCE_INGEST_RATE: '100000', // or it would refuse more than a few a second
  CONVOY_API_RATE_LIMIT: '100000',
  CONVOY_CONSUMER_POOL_SIZE: '200', // of its example
  CONVOY_DISPATCHER_ALLOW_LIST: '127.0.0.1/32',
  CONVOY_DISPATCHER_SKIP_PING_VALIDATION: 'true',
})

// The user that it makes at its first start.
const firstUser = { username: 'superuser@default.com', password: 'default' }

async function createEndpoints(port, urls) {
  const base = `http://127.0.0.1:${port}`
  const { data: user } = await callApi(`${base}/ui/auth/login`, { body: firstUser })
  const token = user.token.access_token
  const { data: organisation } = await callApi(`${base}/ui/organisations`, { token, body: { name: 'bench' } })
  const { data: made } = await callApi(`${base}/ui/organisations/${organisation.uid}/projects`, {
    token,
    body: { name: 'bench', type: 'outgoing' },
  })
  const key = made.api_key.key
  const project = `${base}/api/v1/projects/${made.project.uid}`
  const endpoints = []
  for (const [at, url] of urls.entries()) endpoints.push(await createEndpoint(project, key, url, at))
  return { key, project: made.project.uid, endpoints }
}

async function createEndpoint(project, token, url, at) {
  const name = `endpoint-${at}`
  const { data } = await callApi(`${project}/endpoints`, {
    token,
    body: { name, url, secret: 'bench', http_timeout: timeoutSeconds },
  })
  await callApi(`${project}/subscriptions`, {
    token,
    body: { name, endpoint_id: data.uid, filter_config: { event_types: ['*'] } },
  })
  return data.uid
}

export function requestOf({ key, project, endpoints }, endpoint, n) {
  const id = idOf(endpoint, n)
  const body = {
    endpoint_id: endpoints[endpoint],
    event_type: eventType,
    data: messageOf(id),
    custom_headers: { 'webhook-id': id },
  }
  return { id, bytes: postBytes(`/api/v1/projects/${project}/events`, key, body) }
}
