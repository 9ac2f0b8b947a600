import type { OutboundMessage } from '../../core/message/messenger.ts'

const maxLetters = 1000

export type Accepted = (string | undefined)[] // by part: the id that the SMS centre gave it

// Which parts of a letter were accepted when not all were, for as long as we live: the next try sends the others only.
// An answer that comes after its deadline is noted here, too.
export function openMemory() {
  const letters = new Map<string, { of: string; accepted: Accepted }>()
  return {
    recall({ id, to, text }: OutboundMessage): Accepted {
      const of = `${to} ${text}`
      const known = letters.get(id)
      if (known?.of === of) return known.accepted
      const accepted: Accepted = []
      letters.set(id, { of, accepted })
      const [oldest] = letters.keys()
      if (oldest !== undefined && letters.size > maxLetters) letters.delete(oldest)
      return accepted
    },
    forget({ id }: OutboundMessage) {
      letters.delete(id)
    },
  }
}
