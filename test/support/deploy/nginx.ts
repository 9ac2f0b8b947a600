import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, makeCertificate, openClient } from './client.ts'

export { freePort }

// The shipped file of nginx, run by the nginx of this machine in front of the given nodes.
export const lacksNginx = spawnSync('nginx', ['-v']).error !== undefined
if (lacksNginx) console.warn('SKIPPED: nginx is not on this machine, so its file in deploy/ was not run.')

export async function startNginx(nodes: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-nginx-'))
  const port = await freePort()
  makeCertificate(folder)
  const servers = nodes.map(node => `  server ${node} max_fails=1 fail_timeout=2s;`).join('\n')
  const site = readFileSync('deploy/nginx/tollgate.conf', 'utf8')
    .replace(/( +server 10\.0\.0\.1\d:8080 max_fails=1 fail_timeout=2s;\n)+/, `${servers}\n`)
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace('listen 80;', `listen 127.0.0.1:${await freePort()};`)
    .replaceAll('/etc/ssl/tollgate', folder)
    .replaceAll('/var/log/nginx', folder)
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map(name => `${name}_temp_path ${folder}/${name};`)
    .join('\n')
  const user = process.getuid?.() === 0 ? 'user root;\n' : ''
  const main = join(folder, 'nginx.conf')
  writeFileSync(join(folder, 'site.conf'), site)
  writeFileSync(
    main,
    `${user}daemon off;\npid ${folder}/pid;\nevents {}\nhttp {\n${paths}\ninclude ${folder}/site.conf;\n}\n`,
  )
  const nginx = spawn('nginx', ['-c', main, '-e', join(folder, 'start.log')], { stdio: 'inherit' })
  const { ask, close } = openClient(port)
  const isServing = () =>
    ask('GET', '/healthz').then(
      ({ http }) => http === 200,
      () => false,
    )
  while (!(await isServing())) await sleep(50)
  return {
    ask,
    log: () => readFileSync(join(folder, 'tollgate.log'), 'utf8'),
    async stop() {
      close()
      nginx.kill('SIGTERM')
      await once(nginx, 'exit')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
