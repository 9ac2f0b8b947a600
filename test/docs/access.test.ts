import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  merchantPermissions,
  merchantRoles,
  operatorPermissions,
  operatorRoles,
  type Permission,
  permissions,
} from '../../src/core/access/permissions.ts'

const page = readFileSync('docs/access.md', 'utf8')
const roles: readonly string[] = [...merchantRoles, ...operatorRoles]

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`

// The table of permissions as the page has to print it. After a change of the code, paste what the failure shows.
function tableOf(names: readonly Permission[], columns: readonly string[]) {
  return [
    row(['', ...columns.map(role => role.replace('_', '-'))]),
    `|---|${columns.map(() => ':-:|').join('')}`,
    ...names.map(name => {
      const { means, merchant, operator } = permissions[name]
      const allowed: readonly string[] = [...merchant, ...operator]
      return row([means, ...columns.map(role => (allowed.includes(role) ? 'yes' : ''))])
    }),
  ].join('\n')
}

const tableUnder = (heading: string) =>
  page
    .split(`\n## ${heading}\n`)[1]
    ?.split('\n\n')
    .map(part => part.trim())
    .find(part => part.startsWith('|'))

test('the page prints the permissions of the code', () => {
  expect(tableUnder('The part of a merchant')).toBe(
    tableOf(Object.keys(merchantPermissions) as Permission[], roles),
  )
  expect(tableUnder('The part of the operator')).toBe(
    tableOf(Object.keys(operatorPermissions) as Permission[], operatorRoles),
  )
})
