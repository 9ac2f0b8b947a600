import { existsSync, readFileSync } from 'node:fs'
import { userToBecome } from '../../start/privileges.ts'
import { failureOf } from '../failure.ts'
import { type Check, failed, fine, warning } from './check.ts'

// As which user a gateway would serve if it were started now, by whoever runs this.
export function checkUser(): Check {
  try {
    const user = userToBecome()
    if (user)
      return fine('user', `a gateway that root starts drops root's rights and serves as user ${user.uid}`)
    return fine('user', `a gateway serves as the user who starts it, now ${process.getuid?.() ?? 'you'}`)
  } catch (error) {
    return failed('user', failureOf(error).message)
  }
}

// As which user a gateway on this machine serves. Undefined where that cannot be read.
export function checkUserOf(pid: number): Check | undefined {
  const file = `/proc/${pid}/status`
  const uid = existsSync(file) ? /^Uid:\s*(\d+)/m.exec(readFileSync(file, 'utf8'))?.[1] : undefined
  if (uid === undefined) return undefined
  const fact = `the gateway (process ${pid}) serves as `
  if (uid !== '0') return fine('user', `${fact}user ${uid}`)
  return warning('user', `${fact}root`, "Restart it: this version drops root's rights.")
}
