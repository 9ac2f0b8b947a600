import { attacks } from './attacks.ts'
import { gatherCrowd, type Target } from './crowd.ts'
import { floods } from './floods.ts'

// The hostile clients run in a separate process, so that their CPU time does not delay the honest ones.
process.on('message', (job: { what: string; target: Target }) => void attack(job))
process.on('disconnect', () => process.exit()) // the test is gone

async function attack({ what, target }: { what: string; target: Target }) {
  const crowd = gatherCrowd(target)
  try {
    await [...attacks, ...floods].find(each => each.what === what)?.run(crowd)
    process.send?.({ tally: crowd.tally })
  } catch (error) {
    process.send?.({ failed: String(error) })
  } finally {
    crowd.leave()
  }
}
