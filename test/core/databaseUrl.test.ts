import { expect, test } from 'vitest'
import { hostIn } from '../../src/core/databaseTls.ts'
import { databaseUrlParts } from '../../src/core/databaseUrl.ts'
import { hostsOf } from '../../src/store/connections/hosts.ts'

for (const [url, login, hosts, rest, host = hosts] of [
  ['postgres://db/tollgate?sslmode=require', '', 'db', '/tollgate?sslmode=require'],
  ['postgres://user@db', 'user@', 'db', ''],
  ['postgresql://user:se@cret@db:5433/tollgate', 'user:se@cret@', 'db:5433', '/tollgate', 'db'],
  ['postgres://user:a,b@c@[fd00::5]:5433?x=@/', 'user:a,b@c@', '[fd00::5]:5433', '?x=@/', '[fd00::5]'],
  ['postgres://user@/tollgate?host=/run/a@b', 'user@', '', '/tollgate?host=/run/a@b', '/run/a@b'],
  ['postgres:///toll@gate', '', '', '/toll@gate'],
] as const)
  test(`the parts of ${url}`, () => {
    expect(databaseUrlParts(url)).toEqual({ scheme: expect.stringMatching(/^\w+:\/\/$/), login, hosts, rest })
    expect(hostIn(url)).toBe(host)
  })

test('a URL for each host keeps the whole password', () => {
  expect(hostsOf('postgres://user:a,b@c@db1,db2:5433/tollgate')).toEqual([
    'postgres://user:a,b@c@db1/tollgate',
    'postgres://user:a,b@c@db2:5433/tollgate',
  ])
})
