import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { newMasterKey, tollgateJson } from '../cli/tollgate.ts'
import { migratedDatabase } from '../support/database/database.ts'

test('npm run simulate: commands, settings, numbers and controls work as they are printed; Ctrl-C ends it', {
  timeout: 120_000,
}, async () => {
  const child = spawn(process.execPath, ['test/simulators/run.js', '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NO_COLOR: '1' },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let text = ''
  child.stdout.on('data', chunk => (text += String(chunk)))
  await expect.poll(() => text, { timeout: 50_000 }).toContain('Ctrl-C ends this.')

  const [, key = ''] = /PAYSTACK_SECRET_KEY=(\S+)/.exec(text) ?? []
  const [, url = ''] = /PAYSTACK_URL=(\S+)/.exec(text) ?? []
  expect(text).toContain('0551234987')
  const balance = await fetch(`${url}/balance`, { headers: { authorization: `Bearer ${key}` } })
  expect(await balance.json()).toMatchObject({ status: true })
  const database = await migratedDatabase()
  onTestFinished(() => database.drop())
  const env = { DATABASE_URL: database.url, TOLLGATE_MASTER_KEY: newMasterKey() }
  const commands = [...text.matchAll(/^ {2}npx tollgate (provider add .*)$/gm)].map(([, words = '']) => words)
  for (const words of commands) {
    const { code, data, error } = await tollgateJson(env, ...words.split(' '))
    expect([code, error, data?.check.outcome]).toEqual([0, undefined, 'good'])
    const [, name, mode] = /^provider add (\w+) .* --mode (\w+)$/.exec(words) ?? []
    expect(data).toMatchObject({ provider: name, mode })
    expect(data.webhook).toEqual(name === 'paystack' ? expect.stringContaining('/callbacks/account/') : null)
  }
  expect(commands.map(words => words.slice(words.indexOf('--mode')))).toEqual(
    ['test', 'test', 'live', 'live'].map(mode => `--mode ${mode}`),
  )

  const [, weather = ''] = /-d '(.*)' \S+\/control\/weather/.exec(text) ?? []
  await fetch(`${url}/control/weather`, { method: 'POST', body: weather })
  expect((await fetch(`${url}/balance`)).status).toBe(503)
  expect(await (await fetch(`${url}/control/book`, { method: 'POST' })).json()).toEqual({ said: [] })

  const [, mtn = ''] = /MTN_URL=(\S+)/.exec(text) ?? []
  expect(text).toContain('46733123451')
  const open = await fetch(`${mtn}/control/open`, { method: 'POST' })
  expect(await open.json()).toEqual({ said: [] })

  child.kill('SIGINT')
  const [code] = (await once(child, 'exit')) as [number]
  expect(code).toBe(0)
})

test('npm run simulate: an unknown option prints the usage, and no stack', { timeout: 60_000 }, () => {
  const args = ['test/simulators/run.js', '--bogus']
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect(status).toBe(2)
  expect(stderr).toMatch(/^Unknown option '--bogus'\S*.*\nnpm run simulate -- .*\n$/)
})
