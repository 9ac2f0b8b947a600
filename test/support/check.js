// npm run check: types, lint and format. The types and the lint run side by side, each of them for one core.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

const rows = [
  [
    'tsc --checkers 1',
    'tsc -p tsconfig.scripts.json',
    'tsc -p sdk/node --noEmit',
    'tsc -p sdk/node/tsconfig.web.json',
  ],
  ['oxlint --type-aware --deny-warnings', 'biome format .'],
]

// Most of them are Go programs that end before they would have to collect garbage.
const env = { GOGC: 'off', GOMEMLIMIT: '2GiB', ...process.env }

// Their output would mix, so each writes all of it when it ends.
async function passes(command) {
  const child = spawn(command, { shell: true, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => output.push(chunk))
  const [code] = await once(child, 'close')
  process.stdout.write(Buffer.concat([Buffer.from(`\n> ${command}\n`), ...output]))
  return code === 0
}

async function allPass(row) {
  let passed = true
  for (const command of row) passed = (await passes(command)) && passed
  return passed
}

const passed = await Promise.all(rows.map(allPass))
process.exitCode = passed.includes(false) ? 1 : 0
