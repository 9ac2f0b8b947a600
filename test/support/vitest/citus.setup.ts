import { beforeEach } from 'vitest'
import { isSharded } from '../database/shardedDatabase.ts'
import { whySkippedOnCitus } from '../database/skippedOnCitus.ts'

if (isSharded)
  beforeEach(({ task, skip }) => {
    const because = whySkippedOnCitus(task.file.filepath, task.fullTestName)
    if (because) skip(because)
  })
