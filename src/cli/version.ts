import { readFileSync } from 'node:fs'
import { z } from 'zod'

const packageJson = z.object({ version: z.string(), engines: z.object({ node: z.string() }) })

export const {
  version,
  engines: { node: neededNode },
} = packageJson.parse(JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')))
