// npm run cluster: TypeScript, which Node 20 does not read by itself.
import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'

const file = fileURLToPath(new URL('cluster.ts', import.meta.url))
const { module } = await runnerImport(file, { configFile: false, logLevel: 'error' })
process.exitCode = await module.main(process.argv.slice(2))
