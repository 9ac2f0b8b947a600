import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

// The bench runs seldom and loads modules of src/ by their names, so whoever moves or renames one is told here.
const files = readdirSync('bench', { recursive: true, encoding: 'utf8' }).filter(
  file => file.endsWith('.js') && !file.includes('node_modules'),
)
const loads = files.flatMap(file => loadsIn(file, readFileSync(join('bench', file), 'utf8')))

// const [{ a, b }, { c }] = await version.load('x', 'y')
function loadsIn(file: string, text: string) {
  const calls = text.matchAll(/const \[([^\]]*)\]\s*=\s*await [^;=]*?\.load\(([^)]*)\)/g)
  return [...calls].flatMap(([, wanted = '', named = '']) => {
    const names = [...named.matchAll(/'([^']+)'/g)].map(found => found[1] as string)
    const exports = [...wanted.matchAll(/\{([^}]*)\}/g)].map(found =>
      (found[1] as string).split(',').map(word => word.trim()),
    )
    return names.map((name, at) => ({ file, name, exports: exports[at] ?? [] }))
  })
}

test('the bench loads something', () => {
  expect(loads.length).toBeGreaterThan(20)
})

test.each(loads)('$file finds $name', ({ name, exports }) => {
  const source = existsSync(`src/${name}.ts`) ? readFileSync(`src/${name}.ts`, 'utf8') : ''
  const given = [...source.matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm)]
  expect(given.map(found => found[1])).toEqual(expect.arrayContaining(exports))
})

test('what a former version has elsewhere is something that the bench loads', async () => {
  const { formerPlaces } = await import(join(process.cwd(), 'bench/formerPlaces.js'))
  expect(loads.map(load => load.name)).toEqual(expect.arrayContaining(Object.keys(formerPlaces)))
})

test('pgbench logs in as the address of the database says', async () => {
  const { loginOf } = await import(join(process.cwd(), 'bench/rivals/pgbench.js'))
  const url = 'postgres://who:a%2Fsecret@/versus?host=/tmp/socket&port=5433'
  expect(loginOf(url)).toEqual({
    flags: ['-h', '/tmp/socket', '-p', '5433', '-U', 'who'],
    name: 'versus',
    env: { PGPASSWORD: 'a/secret', PGSSLMODE: 'disable' },
  })
})
