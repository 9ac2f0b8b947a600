import { expect, test } from 'vitest'
import {
  addressesIn,
  databaseAddress,
  folderAddress,
} from '../../../src/core/installation/databaseAddress.ts'

for (const [what, url, address] of [
  ['no user and no password', 'postgres://tollgate:secret@db:5432/tollgate', 'db:5432/tollgate'],
  ['a password with an @', 'postgres://user:se@cret@db.example/tollgate', 'db.example:5432/tollgate'],
  ['the same, and several hosts', 'postgres://u:p@,@b:5433,a?sslmode=require', 'a:5432/u b:5433/u'],
  ['an @ behind the host', 'postgres://db/toll@gate?options=a@b', 'db:5432/toll@gate'],
  ['the default port', 'postgresql://tollgate@db/tollgate', 'db:5432/tollgate'],
  ['a pooler has another port', 'postgres://t:s@db:6432/tollgate', 'db:6432/tollgate'],
  ['small letters', 'postgres://t:s@DB.Example/tollgate', 'db.example:5432/tollgate'],
  ['the database is named like the user', 'postgres://tollgate:secret@db', 'db:5432/tollgate'],
  ['other parameters do not matter', 'postgres://t:s@db/tollgate?sslmode=require', 'db:5432/tollgate'],
  ['IPv6', 'postgres://t:s@[fd00::5]:5433/tollgate', '[fd00::5]:5433/tollgate'],
  ['several hosts, sorted', 'postgres://t:s@b:5433,a/tollgate', 'a:5432/tollgate b:5433/tollgate'],
  ['a host twice', 'postgres://t:s@a,a:5432/tollgate', 'a:5432/tollgate'],
  ['localhost is of this machine', 'postgres://t:s@localhost/tollgate', 'localhost:5432/tollgate@m1'],
  ['127.0.0.1 is localhost', 'postgres://t:s@127.0.0.1:5433/tollgate', 'localhost:5433/tollgate@m1'],
  ['::1 is localhost', 'postgres://t:s@[::1]/tollgate', 'localhost:5432/tollgate@m1'],
  ['no host is localhost', 'postgres:///tollgate', 'localhost:5432/tollgate@m1'],
  [
    'a socket is of this machine',
    'postgres://t:s@/tollgate?host=/run/postgresql&port=5433',
    '/run/postgresql:5433/tollgate@m1',
  ],
  [
    'a socket as an encoded host',
    'postgres://t:s@%2Frun%2Fpostgresql/tollgate',
    '/run/postgresql:5432/tollgate@m1',
  ],
] as const) {
  test(`the address of a database: ${what}`, () => expect(databaseAddress(url, 'm1')).toBe(address))
}

test('without an id of the machine localhost is only a name', () =>
  expect(databaseAddress('postgres://t:s@localhost/tollgate', undefined)).toBe('localhost:5432/tollgate'))

test('a data folder is one of its machine', () =>
  expect(folderAddress('/var/lib/toll gate', 'm1')).toBe('/var/lib/toll%20gate@m1'))

test('an address of several hosts is several addresses', () =>
  expect(addressesIn('a:5432/tollgate b:5433/tollgate')).toEqual(['a:5432/tollgate', 'b:5433/tollgate']))
