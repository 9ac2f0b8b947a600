import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createSecretsCheck } from '../../../src/actions/installation/unreadableSecrets.ts'
import { givenMasterKeys } from '../../../src/start/masterKeys.ts'
import type { Tx } from '../../../src/store/db.ts'

test('the secrets of all merchants are opened once a minute, however many pages ask, and again after an error', async () => {
  let [now, reads, isDown] = [0, 0, false]
  const rows = async () => {
    reads++
    if (isDown) throw new Error('no database')
    return []
  }
  const check = createSecretsCheck(givenMasterKeys([randomBytes(32)]), () => now)
  const ask = () => check({ rows } as unknown as Tx)
  await Promise.all([ask(), ask(), ask()])
  now = 59_999
  await ask()
  expect(reads).toBe(1)
  now = 60_000
  isDown = true
  await expect(ask()).rejects.toThrow('no database')
  isDown = false
  expect(await ask()).toEqual([])
  expect(reads).toBe(3)
})
