import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, test } from 'vitest'
import { openCache } from '../../src/postgres/binaries.ts'
import { as, onlyRoot, unknownUser } from '../support/processes/otherUsers.ts'

const base = mkdtempSync(join(tmpdir(), 'tollgate-binaries-'))
chmodSync(base, 0o755)
afterAll(() => rmSync(base, { recursive: true, force: true }))

const refused = {
  name: 'EmbeddedError',
  message: /is a link or other users may change it, or they may write .* above it: look/,
}
const modeOf = (path: string) => statSync(path).mode & 0o777

test('a folder for the programs is made, and opened whatever the umask', () => {
  const umask = process.umask(0o077)
  const folder = openCache(join(base, 'new', 'tollgate'))
  process.umask(umask)
  assert.equal(modeOf(folder), 0o755)
  assert.equal(openCache(folder), folder)
})

test('a link in its place is not followed, and the mode of its target does not change', () => {
  const secret = join(base, 'secret')
  mkdirSync(secret, { mode: 0o700 })
  symlinkSync(secret, join(base, 'link'))
  assert.throws(() => openCache(join(base, 'link')), refused)
  assert.equal(modeOf(secret), 0o700)
})

test('a folder that others may write to is not used, and its mode does not change', () => {
  const folder = join(base, 'wide')
  mkdirSync(folder)
  chmodSync(folder, 0o775)
  assert.throws(() => openCache(folder), refused)
  assert.equal(modeOf(folder), 0o775)
})

test('a folder of another user is not used, and its mode does not change', async context => {
  onlyRoot(context)
  const place = join(base, 'place')
  mkdirSync(place)
  chmodSync(place, 0o1777)
  const folder = join(place, 'tollgate')
  await as(unknownUser, 'fs.mkdirSync(args[0], { mode: 0o700 })', folder)
  assert.throws(() => openCache(folder), refused)
  assert.equal(modeOf(folder), 0o700)
})

test('a folder below one of another user, who could replace it, is not used', async context => {
  onlyRoot(context)
  const above = join(base, 'above')
  const folder = join(above, 'tollgate')
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  assert.equal(openCache(folder), folder)
  chownSync(above, unknownUser.uid, unknownUser.gid)
  assert.throws(() => openCache(folder), refused)
})

test('a folder below one that all users may write to is not used', () => {
  const above = join(base, 'common')
  mkdirSync(join(above, 'tollgate'), { recursive: true, mode: 0o755 })
  chmodSync(above, 0o777)
  assert.throws(() => openCache(join(above, 'tollgate')), refused)
  chmodSync(above, 0o1777) // as /tmp is
  assert.equal(openCache(join(above, 'tollgate')), join(above, 'tollgate'))
})
