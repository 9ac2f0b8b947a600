import { chmodSync, lstatSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { EmbeddedError } from '../error.ts'
import { isPrivate } from '../user.ts'

const othersMayWrite = 0o022
const everybodyMayWrite = 0o002
const sticky = 0o1000 // others may add, but not move or remove what is not theirs

const me = () => process.getuid?.()
const isOursOrRoots = ({ uid }: Stats) => uid === me() || uid === 0

// We run and read what lies in a folder, so nobody else may be able to put it there, or another folder in its place.
export function isOurs(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  return found?.isDirectory() === true && found.uid === me() && (found.mode & othersMayWrite) === 0
}

export const isReachedSafely = (folder: string) => above(realpathSync(folder)).every(isKeptByUs)

const above = (folder: string): string[] =>
  dirname(folder) === folder ? [] : [dirname(folder), ...above(dirname(folder))]

function isKeptByUs(folder: string): boolean {
  const found = statSync(folder)
  return isOursOrRoots(found) && ((found.mode & othersMayWrite) === 0 || (found.mode & sticky) !== 0)
}

// Why a new database does not go into a folder. One that is there already is followed where it is.
export function whyNotBegin(folder: string): string | undefined {
  const found = statSync(folder)
  if (!isOursOrRoots(found))
    return `${folder} belongs to user ${found.uid}, who could change what is in it: give it to the user who runs Tollgate`
  if (found.mode & everybodyMayWrite && found.uid !== me())
    return `everybody may write to ${folder}: give it to the user who runs Tollgate`
  return undefined
}

// A folder that others can write to is closed to them, unless it is too late.
export function closeToOthers(folder: string) {
  const found = statSync(folder)
  if ((found.mode & othersMayWrite) === 0) return
  const strange = readdirSync(folder).find(name => !isKnown(lstatSync(join(folder, name)), found))
  if (strange !== undefined)
    throw new EmbeddedError(
      `Others may write to ${folder}, and ${strange} in it was put there by one of them: ` +
        `look at it, remove it, and run chmod 700 ${folder}`,
    )
  if (me() === 0 || found.uid === me()) chmodSync(folder, found.mode & 0o777 & ~othersMayWrite)
}

const isKnown = (found: Stats, folder: Stats) =>
  isOursOrRoots(found) || found.uid === folder.uid || (me() === 0 && isPrivate(found.uid))
