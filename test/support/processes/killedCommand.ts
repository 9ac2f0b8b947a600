import { expect } from 'vitest'
import { type Env, launch } from '../../cli/tollgate.ts'
import type { PostgresProxy } from '../database/postgresProxy.ts'

const doneMs = 500 // a statement takes less

// A statement on the way through the proxy. `unsent`: it never arrives. `done`: the server has done it, and the command has
// not noticed. `after`: one that has to come first.
export type Moment = { at: RegExp; after?: RegExp; is: 'unsent' | 'done' }

// Runs a command in a process of its own, which dies at the moment.
export async function runKilled(on: PostgresProxy, { at, after, is }: Moment, env: Env, ...args: string[]) {
  const running = launch(env, ...args, '--json')
  let isNear = after === undefined
  let isReached = false
  on.onStatement = text => {
    isNear ||= after?.test(text) === true
    if (isReached || !isNear || !at.test(text)) return undefined
    isReached = true
    running.child.kill(is === 'unsent' ? 'SIGKILL' : 'SIGSTOP')
    if (is === 'done') setTimeout(() => running.child.kill('SIGKILL'), doneMs)
    return is === 'unsent' ? is : undefined
  }
  const { code, stderr } = await running.ended
  on.onStatement = () => undefined
  expect([String(at), isReached, code, stderr]).toEqual([String(at), true, null, ''])
}
