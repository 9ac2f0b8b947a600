#!/usr/bin/env node
import { build } from '../build.js'

try {
  await build()
} catch (error) {
  console.error(error.message)
  process.exit(1)
}
await import('../dist/cli.js')
