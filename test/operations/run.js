// Runs every command of docs/operations.md, from the first line to the last, as root of an empty Debian 12 that systemd has
// booted in a container: npm run operations. It needs root, systemd-nspawn and debootstrap, and uses the ports of that page
// on this machine. KEEP=folder keeps the empty Debian for the next run; what the commands change is gone after each.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const project = fileURLToPath(new URL('../..', import.meta.url))
const missing = ['systemd-nspawn', 'debootstrap'].filter(
  program => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0,
)
if (process.getuid?.() !== 0 || missing.length > 0) {
  console.error(
    `Not run: it needs root${missing.map(program => `, ${program}`).join('')} (apt-get install systemd-container debootstrap).`,
  )
  process.exit(1)
}

const started = Date.now()
const elapsed = () => {
  const seconds = Math.round((Date.now() - started) / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
const say = text => console.log(`[${elapsed()}] ${text}`)

const work = mkdtempSync(join(tmpdir(), 'tollgate-operations-'))
const debian = process.env.KEEP ? join(process.env.KEEP, 'debian') : join(work, 'debian')
let container
try {
  if (!existsSync(join(debian, '.ready'))) makeDebian()
  const code = await runPage()
  process.exitCode = code
} finally {
  container?.kill('SIGKILL')
  rmSync(work, { recursive: true, force: true })
}

// Debian with systemd and git, and the node, the npm and the certificates of this machine.
function makeDebian() {
  say('makes an empty Debian 12')
  rmSync(debian, { recursive: true, force: true })
  mkdirSync(dirname(debian), { recursive: true })
  const include = 'systemd,systemd-sysv,dbus,git,ca-certificates'
  const found = spawnSync('sh', ['-c', 'cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null'], {
    encoding: 'utf8',
  }).stdout
  const mirror = /[a-z]+:\/\/[^ \n]+\/debian(?=\/?[ \n])/.exec(found)?.[0] ?? 'http://deb.debian.org/debian'
  const made = spawnSync(
    'debootstrap',
    ['--variant=minbase', `--include=${include}`, 'bookworm', debian, mirror],
    {
      encoding: 'utf8',
    },
  )
  if (made.status !== 0) throw Error(`debootstrap failed:\n${(made.stdout ?? '').slice(-2000)}`)
  cpSync(realpathSync(process.execPath), join(debian, 'usr/bin/node'))
  const npm = realpathSync(execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim())
  cpSync(dirname(dirname(npm)), join(debian, 'usr/lib/node_modules/npm'), { recursive: true })
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(debian, 'usr/bin', name))
  // A network that inspects TLS has its own authority here.
  spawnSync('cp', ['-rL', '--remove-destination', '/etc/ssl/certs/.', join(debian, 'etc/ssl/certs/')])
  const wants = join(debian, 'etc/systemd/system/multi-user.target.wants')
  mkdirSync(wants, { recursive: true })
  symlinkSync('../operations.service', join(wants, 'operations.service'))
  writeFileSync(join(debian, '.ready'), '')
}

function pageScript() {
  const page = readFileSync(join(project, 'docs/operations.md'), 'utf8')
  const lines = ['set -euo pipefail', 'export DEBIAN_FRONTEND=noninteractive']
  let isShell = false
  let commands = 0
  for (const line of page.split('\n')) {
    const heading = /^## (\d+\..*)/.exec(line)?.[1]
    if (heading) lines.push(`echo "### ${heading}"`)
    else if (line === '```sh') isShell = true
    else if (line === '```') isShell = false
    else if (isShell) {
      lines.push(line)
      commands++
    }
  }
  if (commands < 50) throw Error('The page has lost its commands.')
  return `${lines.join('\n')}\necho "### done"\n`
}

async function runPage() {
  const exchange = join(work, 'exchange')
  mkdirSync(exchange)
  writeFileSync(join(exchange, 'page.sh'), pageScript())
  writeFileSync(join(exchange, 'log'), '')
  execFileSync('git', ['clone', '-q', project, join(exchange, 'tollgate')])
  const ca = process.env.NODE_EXTRA_CA_CERTS ? '/etc/ssl/certs/ca-certificates.crt' : ''
  writeFileSync(
    join(exchange, 'operations.service'),
    `[Unit]
After=dbus.service systemd-logind.service
[Service]
Type=oneshot
Environment=HOME=/root ${ca && `NODE_EXTRA_CA_CERTS=${ca}`}
WorkingDirectory=/root
StandardOutput=append:/exchange/log
StandardError=append:/exchange/log
ExecStart=/bin/bash -c 'cp -a /exchange/tollgate /root/tollgate; chown -R root: /root/tollgate; code=0; bash /exchange/page.sh || code=$?; journalctl -b --no-pager -n 200 -u "tollgate@*" > /exchange/journal; echo $code > /exchange/code'
`,
  )
  say('boots it')
  container = spawn(
    'systemd-nspawn',
    [
      '-q',
      '-D',
      debian,
      '--volatile=overlay',
      '--register=no',
      '--keep-unit',
      '--resolv-conf=copy-host',
      `--bind=${exchange}:/exchange`,
      `--bind-ro=${join(exchange, 'operations.service')}:/etc/systemd/system/operations.service`,
      '--boot',
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let output = ''
  for (const stream of [container.stdout, container.stderr])
    stream.on('data', data => {
      output = `${output}${data}`.slice(-4000)
    })
  let ended = false
  container.on('exit', () => {
    ended = true
  })
  let shown = 0
  const showNew = () => {
    const text = readFileSync(join(exchange, 'log'), 'utf8')
    for (const line of text.slice(shown).split('\n').filter(Boolean))
      if (line.startsWith('### ')) say(line.slice(4))
      else console.log(`    ${line}`)
    shown = text.length
  }
  while (!existsSync(join(exchange, 'code')) || statSync(join(exchange, 'code')).size === 0) {
    if (ended) throw Error(`The container ended early:\n${output}`)
    if (Date.now() - started > 20 * 60_000) throw Error(`No end after 20 minutes:\n${output}`)
    await sleep(500)
    showNew()
  }
  showNew()
  const code = Number(readFileSync(join(exchange, 'code'), 'utf8'))
  if (code !== 0) console.log(readFileSync(join(exchange, 'journal'), 'utf8').slice(-4000))
  say(code === 0 ? 'docs/operations.md: every command ran' : `docs/operations.md failed with ${code}`)
  container.kill('SIGTERM')
  await sleep(1000)
  return code
}
