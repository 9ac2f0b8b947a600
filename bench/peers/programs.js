// The programs of the others: where a setting says, or on the PATH. Nothing else of the bench needs them.
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const programs = {
  outpost: {
    setting: 'BENCH_OUTPOST',
    names: ['outpost'],
    how: 'a release of hookdeck/outpost, with outpost-server beside it',
  },
  convoy: { setting: 'BENCH_CONVOY', names: ['convoy'], how: 'a release of frain-dev/convoy' },
  svix: { setting: 'BENCH_SVIX', names: ['svix-server'], how: 'a release of svix/svix-webhooks' },
  redis: { setting: 'BENCH_REDIS', names: ['redis-server'], how: 'the package redis-server' },
  rabbitmq: {
    setting: 'BENCH_RABBITMQ',
    // First where Debian has the one that does not switch to its own user.
    names: ['/usr/lib/rabbitmq/bin/rabbitmq-server', 'rabbitmq-server'],
    how: 'the package rabbitmq-server',
  },
  epmd: { setting: 'BENCH_EPMD', names: ['epmd'], how: 'the package erlang-base' },
}

// Only peers whose programs were found are started.
/** @type {(name: string, env?: NodeJS.ProcessEnv) => any} */
export function findProgram(name, env = process.env) {
  const { setting, names } = programs[name]
  const given = env[setting]
  const folders = (env.PATH ?? '').split(delimiter)
  const places = given ? [given] : names.flatMap(each => inFolders(each, folders))
  return places.find(isProgram)
}

const inFolders = (name, folders) =>
  name.startsWith('/') ? [name] : folders.map(folder => join(folder, name))

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

// What a peer needs and has not: one line that says how to get it.
export function lackOf({ label, needs }, env = process.env) {
  const lacking = needs.filter(name => !findProgram(name, env))
  if (lacking.length === 0) return undefined
  const ways = lacking.map(name => `${programs[name].how} (${programs[name].setting})`)
  return `${label} is left out, for want of ${ways.join(' and ')}; see bench/peers/README.md.`
}
