import { writeFileSync } from 'node:fs'
import type { Reporter } from 'vitest/node'
import type { Report } from './proof.ts'

// For `npm run proof`: writes which files failed, and when each began and ended.
export function filesReporter(): Reporter {
  const startedAt = new Map<string, number>()
  const runs: Report['runs'] = []
  return {
    onTestModuleQueued: ({ relativeModuleId }) => void startedAt.set(relativeModuleId, Date.now()),
    onTestModuleEnd(module) {
      const file = module.relativeModuleId
      const until = Date.now()
      runs.push({ file, failed: !module.ok(), from: startedAt.get(file) ?? until, until })
    },
    onTestRunEnd(_, errors) {
      const path = process.env.PROOF_REPORT
      const report: Report = { runs, errors: errors.length }
      if (path) writeFileSync(path, JSON.stringify(report))
    },
  }
}
