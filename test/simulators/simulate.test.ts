import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'

test('npm run simulate: settings, numbers and controls that work as they are printed; Ctrl-C ends it', async () => {
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
