import type { CopyReason, InstallationState } from './installationState.ts'

// For operators: in logs, in answers, and by commands.
const whyText: Record<CopyReason['kind'], string> = {
  marked: 'it was restored from a backup',
  other_server: 'its server has another system identifier than the one that the database remembers',
  unknown_address: 'no node has used it at this address before',
}

export const adoptCure =
  'If this is the real one now, and no other is in use, run tollgate adopt; see /docs/copies.'

export const whyCopy = (why: CopyReason) =>
  why.kind === 'marked' && why.words ? why.words : whyText[why.kind]

export const copyReasonText = (why: CopyReason) =>
  `The database of this gateway is a copy: ${whyCopy(why)}. It sends nothing and takes no live payment. ${adoptCure}`

export const movedText = (movedTo: string) =>
  `The payments of this database were moved to ${movedTo}. Set DATABASE_URL to that database. ${adoptCure}`

// For merchants and their programs, without addresses of the installation.
export const refusedOnCopy =
  'This gateway works on a copy of its database: it takes no live payment or refund, and sends nothing. Its operator ' +
  'declares it the real one by tollgate adopt. Nothing was stored: repeat the same request later.'
export const refusedOnMoved =
  'The payments of this gateway were moved to another database, which its operator has to set in DATABASE_URL. Nothing was ' +
  'stored: repeat the same request later.'

// Undefined for the original.
export const notOriginalText = (state: InstallationState) =>
  state.is === 'original'
    ? undefined
    : state.is === 'copy'
      ? copyReasonText(state.why)
      : movedText(state.movedTo)
