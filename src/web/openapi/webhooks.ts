import { ipnRequest, signingKey } from '../../core/notification/delivery.ts'
import { notificationBody, notificationId, refundUpdateBody } from '../../core/notification/notification.ts'
import { noOutcome, type Payment } from '../../core/payment/payment.ts'
import { examplePayment, exampleTime } from './examples.ts'
import { jsonContent } from './operation.ts'
import { succeededRefund } from './refundPaths.ts'
import type { Json } from './requestSchema.ts'
import { refTo } from './schemas.ts'

const exampleIpnSecret = 'whsec_YW4gZXhhbXBsZSwgbm90IGEgc2VjcmV0IGF0IGFsbCE='

const paid: Payment = {
  ...examplePayment,
  ...noOutcome,
  status: 'paid',
  payment_method: 'mtn_mobile_money',
  payment_time: exampleTime,
}
const body = notificationBody(paid, 'post')
const { tx_reference } = paid
const { headers } = ipnRequest(
  {
    merchant_id: '',
    tx_reference,
    sequence: 1,
    url: 'https://shop.example/ipn',
    style: 'post',
    tries: 1,
    body,
  },
  { keys: [signingKey(exampleIpnSecret)], merchant_key: '', passwordOrigins: [] },
  exampleTime,
)

const header = (name: string, description: string, schema: Json) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema,
  example: headers[name],
})

const parameters = [
  header(
    'webhook-id',
    'The id of this notification. It is the same on every try: store it to detect a repetition.',
    {
      type: 'string',
      pattern: `^${notificationId({ tx_reference: 'TG(-[0-9A-Z]{6}){3}', sequence: 0 }).slice(0, -1)}[0-9]+$`,
    },
  ),
  header('webhook-timestamp', 'The time of this try, in unix seconds. Refuse one that is 300 seconds away.', {
    type: 'string',
    pattern: '^[0-9]+$',
  }),
  header(
    'webhook-signature',
    '`v1,` and the base64 HMAC-SHA-256 of `<webhook-id>.<webhook-timestamp>.<body>`, where body are the bytes as ' +
      'received. The key are the bytes behind `whsec_` of your signing secret, decoded from base64. While you change ' +
      'the secret there are two, with a space between them: accept the notification if one of them matches.',
    { type: 'string', pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$' },
  ),
  header('webhook-attempt', 'Which try this is; 1 is the first.', {
    type: 'string',
    pattern: '^[1-9][0-9]*$',
  }),
  header('webhook-sequence', 'Counts the notifications of this payment. They can arrive in another order.', {
    type: 'string',
    pattern: '^[1-9][0-9]*$',
  }),
]

// The requests that the gateway sends to a shop.
export const webhooks = {
  paymentStatus: {
    post: {
      tags: ['Notifications'],
      operationId: 'paymentStatus',
      summary: 'The status of a payment changed',
      description:
        'Sent to `ipn_url` for every change of status, with ipn_style post, which is the default. Verify the ' +
        'signature, then check the status before you deliver anything: a notification only says that there is ' +
        'something new. Answer 200 within 10 seconds. After anything else it is sent again, 16 times in 24 hours. ' +
        'A body with the type test was sent by a person to try the address: it is about no payment, and is sent once.',
      parameters,
      requestBody: {
        required: true,
        content: jsonContent(refTo('Notification'), { paid: JSON.parse(body) }),
      },
      responses: {
        200: { description: 'You have it. It is not sent again.' },
        default: { description: 'Any other answer: it is sent again later.' },
      },
    },
  },
  refundState: {
    post: {
      tags: ['Notifications'],
      operationId: 'refundState',
      summary: 'The state of a refund changed',
      description:
        'Sent only if your setting ipn_refunds is on, to `ipn_url`, for every change of the state of a refund. The body ' +
        'has the type refund and no status: the status of the payment stays paid. It is signed and repeated like the ' +
        'notification of a status. With ipn_style get it is the same GET as for a status, and with basic its amount is text.',
      parameters,
      requestBody: {
        required: true,
        content: jsonContent(refTo('RefundNotification'), {
          succeeded: JSON.parse(refundUpdateBody(succeededRefund, 'post')),
        }),
      },
      responses: {
        200: { description: 'You have it. It is not sent again.' },
        default: { description: 'Any other answer: it is sent again later.' },
      },
    },
  },
}
