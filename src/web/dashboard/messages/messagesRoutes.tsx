import {
  messageFilters,
  type NamedMessage,
  readMessagesInState,
} from '../../../actions/messages/messageStates.ts'
import type { Lang } from '../../../core/languages/languages.ts'
import { Icon } from '../../../core/markup/page.tsx'
import { maskContacts, maskNumbers, maskRecipient } from '../../../core/mask.ts'
import { shownState } from '../../../core/message/message.ts'
import { withoutControls } from '../../../core/timeline/history.ts'
import { storedText } from '../../../core/timeline/storedSentences.ts'
import type { AreaDeps } from '../areaDeps.ts'
import { OperatorPlacePage, sendDashboardPage } from '../frame/frame.tsx'
import { zonedDayMinute } from '../frame/zonedTime.ts'
import { merchantBase, type OperatorRoute, operatorBase, type Visit } from '../route.ts'
import { messagesTexts } from './messagesTexts.ts'

export const messagesRoutes = ({ runtime }: AreaDeps): OperatorRoute[] => [
  {
    method: 'get',
    path: '/messages',
    permission: 'messages.view',
    async handle(c, visit) {
      const filter = messageFilters.find(one => one === c.req.query('state')) ?? 'all'
      const place = c.req.query('before')
      const page = await readMessagesInState(visit.db, filter, place)
      const props = { visit, filter, ...page, isFirst: !place, zone: runtime.timeZone }
      return sendDashboardPage(c, <MessagesPage {...props} />)
    },
  },
]

type MessagesProps = {
  visit: Visit
  filter: (typeof messageFilters)[number]
  messages: readonly NamedMessage[]
  next: string | undefined
  isFirst: boolean
  zone: string
}

const pathOf = (filter: string, before?: string) =>
  `${operatorBase}/messages?${new URLSearchParams({ state: filter, ...(before && { before }) }).toString()}`

const MessagesPage = ({ visit, filter, messages, next, isFirst, zone }: MessagesProps) => {
  const texts = messagesTexts[visit.lang]
  return (
    <OperatorPlacePage visit={visit} title={texts.title} place="messages">
      <h1>{texts.title}</h1>
      <div class="row">
        {messageFilters.map(one => (
          <a
            class={one === filter ? 'chip on' : 'chip'}
            href={pathOf(one)}
            aria-current={one === filter ? 'true' : undefined}
          >
            {texts.filters[one]}
          </a>
        ))}
      </div>
      <section class="card">
        {messages.length === 0 ? (
          <p class="empty">
            <span>{texts.none}</span>
          </p>
        ) : (
          <MessageTable lang={visit.lang} messages={messages} zone={zone} />
        )}
        {(next || !isFirst) && (
          <div class="pager">
            <span>{!isFirst && <a href={pathOf(filter)}>{texts.newest}</a>}</span>
            {next && (
              <a class="btn plain small" href={pathOf(filter, next)}>
                {texts.older}
              </a>
            )}
          </div>
        )}
      </section>
    </OperatorPlacePage>
  )
}

type TableProps = { lang: Lang; messages: readonly NamedMessage[]; zone: string }

const MessageTable = ({ lang, messages, zone }: TableProps) => {
  const texts = messagesTexts[lang]
  return (
    <table class="fold">
      <thead>
        <tr>
          <th>{texts.to}</th>
          <th>{texts.state}</th>
          <th>{texts.about}</th>
          <th>{texts.merchant}</th>
          <th>{texts.why}</th>
          <th class="r">{texts.tries}</th>
          <th class="r">{texts.time}</th>
        </tr>
      </thead>
      <tbody>
        {messages.map(message => (
          <tr>
            <td class="nowrap">
              {message.medium === 'sms' ? 'SMS' : texts.mail} {maskRecipient(message.recipient)}
            </td>
            <td>
              <StatePill message={message} lang={lang} />
            </td>
            <td>
              {message.tx_reference ? (
                <a
                  href={`${merchantBase(message.merchant_id, message.mode)}/payments/${message.tx_reference}`}
                >
                  {texts.topics[message.topic] ?? message.topic}
                </a>
              ) : (
                (texts.topics[message.topic] ?? message.topic)
              )}
              {message.mode === 'test' && <span class="muted"> (test)</span>}
            </td>
            <td>{message.merchant_name}</td>
            <td class="alone">{reasonOf(message, lang)}</td>
            <td class="r" data-head={texts.tries}>
              {message.tries}
            </td>
            <td class="r">{zonedDayMinute(message.created_at, zone, lang)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

// The words of a messenger may name the recipient.
function reasonOf({ words, recipient, medium }: NamedMessage, lang: Lang): string {
  const contacts =
    medium === 'sms' ? { phones: [recipient], emails: [] } : { phones: [], emails: [recipient] }
  return maskNumbers(maskContacts(storedText(withoutControls(words), lang), contacts))
}

const pills = {
  queued: ['wait', undefined],
  going: ['wait', undefined],
  sent: ['ok', 'check'],
  delivered: ['ok', 'check'],
  kept: ['', 'check'],
  dropped: ['bad', 'cross'],
} as const

const StatePill = ({ message, lang }: { message: NamedMessage; lang: Lang }) => {
  const state = shownState(message)
  const [tone, icon] = pills[state]
  return (
    <span class={tone ? `pill ${tone}` : 'pill'}>
      {icon ? <Icon name={icon} /> : <span aria-hidden="true">…</span>}
      {messagesTexts[lang].states[state]}
    </span>
  )
}
