import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, makeCertificate, openClient } from './client.ts'

// The shipped Caddyfile, run by the Caddy of this machine, or of CADDY, in front of the given nodes.
export const caddyProgram = process.env.CADDY ?? 'caddy'
const version = spawnSync(caddyProgram, ['version'], { encoding: 'utf8' })
export const lacksCaddy = version.error !== undefined
// Before 2.11 Caddy sends no body again. Its file says which lines to remove.
const [, major, minor] = (/(\d+)\.(\d+)/.exec(version.stdout ?? '') ?? []).map(Number)
export const repeatsBodies = !lacksCaddy && (Number(major) > 2 || Number(minor) >= 11)
if (lacksCaddy) console.warn('SKIPPED: caddy is not on this machine, so its file in deploy/ was not run.')
else if (!repeatsBodies)
  console.warn('SKIPPED: this caddy is older than 2.11, so the repetition of payment requests was not run.')

export function caddyfile(): string {
  const text = readFileSync('deploy/caddy/Caddyfile', 'utf8')
  return repeatsBodies ? text : text.replace(/\t\trequest_buffers [^}]*}\n/, '')
}

export async function startCaddy(nodes: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-caddy-'))
  const port = await freePort()
  makeCertificate(folder)
  const site = caddyfile()
    .replace('10.0.0.11:8080 10.0.0.12:8080', nodes.join(' '))
    .replace(/^pay\.example \{$/m, `pay.example {\n\ttls ${folder}/fullchain.pem ${folder}/key.pem`)
  const ownOptions = `\tadmin off\n\thttps_port ${port}\n\thttp_port ${await freePort()}\n`
  writeFileSync(join(folder, 'Caddyfile'), site.replace(/^\{$/m, `{\n${ownOptions}`))
  const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const args = ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')]
  const caddy = spawn(caddyProgram, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [caddy.stdout, caddy.stderr]) stream.on('data', chunk => (output += chunk))
  const { ask, close } = openClient(port)
  const isServing = () =>
    ask('GET', '/healthz').then(
      ({ http }) => http === 200,
      () => false,
    )
  while (!(await isServing())) {
    if (caddy.exitCode !== null) throw Error(`Caddy ended: ${output}`)
    await sleep(50)
  }
  return {
    ask,
    port,
    log: () => output,
    async stop() {
      close()
      caddy.kill('SIGTERM')
      await once(caddy, 'exit')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
