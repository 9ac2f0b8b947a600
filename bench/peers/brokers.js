// Redis and RabbitMQ as the peers want them: on this machine only, in their own folder, and durable.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../endpoints/freePort.js'
import { startChild } from './child.js'
import { findProgram } from './programs.js'

// With its append-only file, written through every second: what its own documentation advises. A commit of PostgreSQL
// is written through before it is answered, so the difference is in favour of systems that use Redis.
export async function startRedis(folder) {
  const port = await freePort()
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: folder,
    appendonly: 'yes',
    appendfsync: 'everysec',
    save: '',
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  return { port, ...(await startChild(findProgram('redis'), flags, { folder, name: 'redis', port })) }
}

export async function startRabbit(folder) {
  const [port, distPort, names] = [await freePort(), await freePort(), await freePort()]
  const erlang = { HOME: folder, ERL_EPMD_PORT: String(names), ERL_EPMD_ADDRESS: '127.0.0.1' }
  const epmd = await startChild(findProgram('epmd'), [], { folder, name: 'epmd', env: erlang, port: names })
  const file = (name, text) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const env = {
    ...erlang,
    RABBITMQ_NODENAME: `bench${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distPort),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1}',
    RABBITMQ_CONF_ENV_FILE: file('rabbit-env.conf', ''),
    RABBITMQ_CONFIG_FILE: file('rabbitmq.conf', 'loopback_users.guest = true\n'),
    RABBITMQ_ADVANCED_CONFIG_FILE: file('advanced.config', '[].\n'),
    RABBITMQ_ENABLED_PLUGINS_FILE: file('enabled_plugins', '[].\n'),
    RABBITMQ_MNESIA_BASE: join(folder, 'mnesia'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_PID_FILE: join(folder, 'pid'),
  }
  const rabbit = await startChild(findProgram('rabbitmq'), [], { folder, name: 'rabbitmq', env, port }).catch(
    async error => {
      await epmd.stop()
      throw error
    },
  )
  return {
    port,
    cpuMs: () => rabbit.cpuMs() + epmd.cpuMs(),
    async stop() {
      await rabbit.stop()
      await epmd.stop()
    },
  }
}
