import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { main } from '../../../sdk/node/src/cli/main.ts'
import type { Credentials } from '../../support/gateway/gateway.ts'
import type { AtEnd } from './handler.ts'

export type Env = Record<string, string>

// The environment of a developer, with an empty folder for settings.
export function developerEnv(url?: string, keys?: Credentials, atEnd: AtEnd = onTestFinished): Env {
  const home = mkdtempSync(join(tmpdir(), 'tollgate-developer-'))
  atEnd(() => rmSync(home, { recursive: true, force: true }))
  return {
    PATH: process.env.PATH ?? '',
    HOME: home,
    XDG_CONFIG_HOME: home,
    ...(url && { TOLLGATE_URL: url }),
    ...(keys && {
      TOLLGATE_MERCHANT_KEY: keys.merchant_key,
      TOLLGATE_MERCHANT_SECRET: keys.secret_key,
      TOLLGATE_IPN_SECRET: keys.ipn_secret,
    }),
  }
}

type Options = { answers?: string[]; isTerminal?: boolean; signal?: AbortSignal }

// Runs a command in this process, and returns its exit code and what it printed.
export async function runCommand(args: string[], env: Env, options: Options = {}) {
  const { answers = [], isTerminal = false, signal = new AbortController().signal } = options
  const out: string[] = []
  const errors: string[] = []
  const hidden: string[] = []
  const code = await main(args, {
    env,
    isTerminal,
    signal,
    out: line => void out.push(line),
    error: line => void errors.push(line),
    ask: async (question, isHidden) => {
      if (isHidden) hidden.push(question)
      return answers.shift() ?? ''
    },
  })
  return { code, out: out.join('\n'), errors: errors.join('\n'), hidden }
}
