import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// A fuzzer that nobody here wrote. It is a program in Python: whoever has Python gets it into a folder of its own, once.
const version = '4.32.5'
const folder = fileURLToPath(new URL(`../../node_modules/.cache/schemathesis-${version}`, import.meta.url))
const program = `${folder}/bin/schemathesis`

export async function bringSchemathesis(): Promise<{ program: string } | { why: string }> {
  if (existsSync(program)) return { program }
  if ((await run('python3', ['-m', 'venv', folder])) !== 0)
    return { why: 'Schemathesis was left out: it needs python3 with its module venv.' }
  const wanted = ['install', '--quiet', '--disable-pip-version-check', `schemathesis==${version}`]
  if ((await run(`${folder}/bin/pip`, wanted)) !== 0 || !existsSync(program))
    return { why: `Schemathesis was left out: pip could not install schemathesis ${version}.` }
  return { program }
}

// It keeps notes where it is started: in a folder that goes with it.
export async function runSchemathesis(path: string, url: string, env: Record<string, string>) {
  const { FUZZ_EXAMPLES = '', FUZZ_SEED = '' } = env
  const args = ['--config-file', fileOf('schemathesis.toml'), 'run', `${url}/openapi.json`]
  const effort = ['--max-examples', FUZZ_EXAMPLES, '--seed', FUZZ_SEED, '--continue-on-failure']
  const hooks = {
    PYTHONPATH: fileOf('.'),
    PYTHONDONTWRITEBYTECODE: '1',
    SCHEMATHESIS_HOOKS: 'schemathesis_hooks',
  }
  const cwd = mkdtempSync(join(tmpdir(), 'tollgate-fuzz-'))
  try {
    return await run(path, [...args, ...effort], { ...env, ...hooks }, cwd)
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

// Not at the same moment as we wait: the gateway answers from this very process.
const run = (path: string, args: string[], env: Record<string, string> = {}, cwd?: string) =>
  new Promise<number>(resolve => {
    const child = spawn(path, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    child.on('error', () => resolve(-1))
    child.on('close', (code, signal) => {
      if (signal) console.log(`It was ended by ${signal}.`)
      resolve(code ?? -1)
    })
  })
