// npm run torture: TypeScript, which Node 20 does not read by itself.
import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'

const pathOf = file => fileURLToPath(new URL(file, import.meta.url))
const alias = [
  { find: /^#markup\//, replacement: pathOf('../../src/core/markup/') },
  { find: /^#sdk$/, replacement: pathOf('../../sdk/node/src/index.ts') },
]
const { module } = await runnerImport(pathOf('torture.ts'), {
  configFile: false,
  logLevel: 'error',
  resolve: { alias },
})
process.exit(await module.main(process.argv.slice(2)))
