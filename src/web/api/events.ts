import { type EventPage, readEvents } from '../../actions/interface/readEvents.ts'
import { feedHeader } from '../../core/interface/signature.ts'
import { notificationId } from '../../core/notification/notification.ts'
import { type ApiAnswer, type Exchange, jsonType } from '../http/apiRequest.ts'
import { queryFields } from '../http/body.ts'
import type { ApiOptions } from './initiate.tsx'

// The event feed has the content of all notifications, for merchants that missed some.
export const eventsRoute =
  ({ runtime }: ApiOptions) =>
  async (exchange: Exchange): Promise<ApiAnswer> => {
    const { incoming, query, address } = exchange
    const signature = incoming.headers[feedHeader] as string | undefined // Node joins repeated headers
    exchange.fields = queryFields(query)
    const { merchant_id, ...page } = await readEvents(runtime, exchange.fields, signature, address)
    return { http: 200, type: jsonType, body: JSON.stringify(eventsBody(page)), merchant_id }
  }

// `body` is text and not nested JSON: it has the exact bytes of the notification, so its signature can be verified.
export const eventsBody = ({ events, next, more }: Omit<EventPage, 'merchant_id'>) => ({
  success: true,
  status: 'ok',
  events: events.map(event => ({
    cursor: String(event.position),
    id: notificationId(event),
    sequence: event.sequence,
    type: event.type ?? 'status',
    status: event.status,
    created_at: event.created_at,
    body: event.body,
  })),
  next: String(next),
  more,
})
