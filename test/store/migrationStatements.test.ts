import { expect, test } from 'vitest'
import { migrationNames, readMigration, statementsOf } from '../../src/store/migrate/migrationList.ts'

test('the statements of a migration', () => {
  const text = `-- A comment; in the middle.
create table one (n int); -- with one; or two
create index i on one (n);

create function f() returns trigger language plpgsql as $$
begin
  raise exception 'no';
end $$;
drop table one;
`
  expect(statementsOf({ text }).map(part => part.replace(/^--.*$/gm, '').trim())).toEqual([
    'create table one (n int); -- with one; or two',
    'create index i on one (n);',
    "create function f() returns trigger language plpgsql as $$\nbegin\n  raise exception 'no';\nend $$;",
    'drop table one;',
  ])
})

test('every statement of this release begins with one word of SQL and ends with a semicolon', () => {
  for (const name of migrationNames())
    for (const statement of statementsOf(readMigration(name))) {
      const bare = statement.replace(/--.*$/gm, '').trim()
      expect(bare, name).toMatch(/^(create|alter|drop|update|insert|delete) [^]*;$/)
      expect(bare.replace(/\$\$[^]*\$\$/, '').split(';'), name).toHaveLength(2)
    }
})
