// Outpost: RabbitMQ between its services, Redis for its settings and locks, PostgreSQL for its log.
import { dirname, join } from 'node:path'
import { freePort } from '../endpoints/freePort.js'
import { callApi, idOf, messageOf, postBytes } from './api.js'
import { startRabbit, startRedis } from './brokers.js'
import { runChild, startChild } from './child.js'
import { findProgram } from './programs.js'

export const peer = { id: 'outpost', label: 'Outpost', needs: ['outpost', 'redis', 'rabbitmq', 'epmd'] }
export const accepted = '202'

const key = 'bench'
const topic = 'payment'
const atOnce = '200' // of deliveries and of log entries: what its own load test has
const timeoutSeconds = '10' // as Tollgate's

export async function openPeer(databaseUrl, urls, folder) {
  const redis = await startRedis(join(folder, 'redis'))
  const rabbit = await startRabbit(join(folder, 'rabbitmq'))
  const env = settings(databaseUrl, redis.port, rabbit.port)
  await runChild(findProgram('outpost'), ['migrate', 'apply', '--yes'], { folder, name: 'outpost', env })
  const server = join(dirname(findProgram('outpost')), 'outpost-server')
  // Its three services apart, as it is meant to run. Each has its own port.
  const start = async (service, port) =>
    startChild(server, ['--service', service], {
      folder,
      name: `outpost-${service}`,
      port,
      env: { ...env, API_PORT: String(port) },
    })
  const [apiPort, deliveryPort, logPort] = [await freePort(), await freePort(), await freePort()]
  return {
    target: { port: apiPort, key },
    brokers: [redis, rabbit],
    startFront: async () => [await start('api', apiPort), await start('log', logPort)],
    startWorkers: async () => [await start('delivery', deliveryPort)],
    createEndpoints: () => Promise.all(urls.map((url, at) => createEndpoint(apiPort, url, at))),
  }
}

const settings = (databaseUrl, redisPort, rabbitPort) => ({
  POSTGRES_URL: `${databaseUrl}&sslmode=disable`,
  REDIS_HOST: '127.0.0.1',
  REDIS_PORT: String(redisPort),
  REDIS_DATABASE: '0',
  RABBITMQ_SERVER_URL: `amqp://guest:guest@127.0.0.1:${rabbitPort}`,
  API_KEY: key,
  API_JWT_SECRET: 'bench',
  AES_ENCRYPTION_SECRET: '0123456789abcdef',
  TOPICS: topic,
  DESTINATIONS_WEBHOOK_MODE: 'standard', // the id goes by the name that the receiver knows
  PORTAL_REFERER_URL: 'http://127.0.0.1',
  DELIVERY_MAX_CONCURRENCY: atOnce,
  LOG_MAX_CONCURRENCY: atOnce,
  DELIVERY_TIMEOUT_SECONDS: timeoutSeconds,
  LOG_LEVEL: 'warn',
  DISABLE_TELEMETRY: 'true',
})

const tenantOf = at => `tenant-${at}`

async function createEndpoint(port, url, at) {
  const tenant = `http://127.0.0.1:${port}/api/v1/tenants/${tenantOf(at)}`
  await callApi(tenant, { method: 'PUT', token: key })
  await callApi(`${tenant}/destinations`, {
    token: key,
    body: { type: 'webhook', topics: [topic], config: { url } },
  })
}

export function requestOf(target, endpoint, n) {
  const id = idOf(endpoint, n)
  const body = { id, tenant_id: tenantOf(endpoint), topic, data: messageOf(id) }
  return { id, bytes: postBytes('/api/v1/publish', target.key, body) }
}
