import { inboxName, type Message } from '../../core/message/message.ts'
import { Time } from './time.tsx'

const maxWords = 300

type Stood = Pick<Message, 'state' | 'messenger' | 'sent_at' | 'words' | 'next_try_at' | 'tries'>
type Standing = { mark: string; word: string; by?: boolean }

// A word and a mark, never colour alone.
const standings = {
  queued: { mark: '…', word: 'waiting' },
  going: { mark: '…', word: 'on its way' },
  kept: { mark: '✓', word: 'kept here' }, // nobody is set up to carry it
  sent: { mark: '✓', word: 'sent', by: true },
  delivered: { mark: '✓✓', word: 'delivered', by: true },
  dropped: { mark: '✕', word: 'not sent' },
} satisfies Record<string, Standing>

export function standingOf({ state, messenger, sent_at }: Stood): keyof typeof standings {
  if (state === 'queued') return sent_at ? 'going' : 'queued'
  return state === 'sent' && messenger === inboxName ? 'kept' : state
}

export const StateWords = ({ message }: { message: Stood }) => {
  const standing = standingOf(message)
  const { mark, word, by }: Standing = standings[standing]
  const { words, messenger, next_try_at, tries } = message
  return (
    <>
      <p class={`status ${standing}`}>
        <span aria-hidden="true">{mark}</span> {word}
        {by && messenger && ` by ${messenger}`}
      </p>
      {words && <p>{words.slice(0, maxWords)}</p>}
      {next_try_at && (
        <p class="muted">
          {standing === 'going' ? 'Without an answer tried again at' : waiting(tries)}{' '}
          <Time at={next_try_at} />
        </p>
      )}
    </>
  )
}

function waiting(tries: number): string {
  if (tries === 0) return 'Goes out at'
  return tries === 1 ? 'Tried once, again at' : `Tried ${tries} times, again at`
}
