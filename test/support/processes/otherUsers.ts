import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { TestContext } from 'vitest'

export type User = { uid: number; gid: number }

export const nobody: User = { uid: 65_534, gid: 65_534 }
export const unknownUser: User = { uid: 47_110, gid: 47_110 }
export const others = [nobody, unknownUser]

export const isRoot = process.getuid?.() === 0

export function onlyRoot(context: TestContext) {
  if (!isRoot) context.skip('SKIPPED: only root can act as another user')
}

// Runs `body` in a process of another user of the machine, and returns its value. That user may not be able to read the
// repository, so the script is self-contained.
export async function as(user: User, body: string, ...args: string[]): Promise<unknown> {
  const script = `
    const fs = require('node:fs'), net = require('node:net'), args = process.argv.slice(1)
    const attempt = work => { try { return work() } catch (error) { return error.code } }
    const meet = ${meet}
    Promise.resolve((async () => { ${body} })()).then(found => console.log(JSON.stringify(found ?? null)))`
  const options = { ...user, cwd: '/', env: {} }
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script, ...args], options)
  return JSON.parse(stdout)
}

// Connects to PostgreSQL as a user without a password: 'let in', 'asked for a password', or an error.
export const meet = `(sockets, user) => new Promise(resolve => {
  const said = Buffer.from('\\0\\x03\\0\\0user\\0' + user + '\\0database\\0postgres\\0\\0', 'latin1')
  const length = Buffer.alloc(4)
  length.writeUInt32BE(said.length + 4)
  const socket = net.connect(sockets + '/.s.PGSQL.5432', () => socket.write(Buffer.concat([length, said])))
  socket.on('error', error => resolve(error.code))
  socket.on('data', answer => {
    socket.destroy()
    if (answer[0] !== 82) return resolve('turned away')
    resolve(answer.readUInt32BE(5) === 0 ? 'let in' : 'asked for a password')
  })
})`
