import { expect, test } from 'vitest'
import { NetworkError, toNetworkError } from '../../src/net/networkError.ts'

const failing = (code: string, message: string) => Object.assign(new Error(message), { code })

for (const [error, hasAnswerByte, failure, message] of [
  [failing('ECONNRESET', 'read ECONNRESET'), false, 'no_connection', 'the connection was reset'],
  [failing('ECONNRESET', 'read ECONNRESET'), true, 'bad_answer', 'the connection was reset'],
  [undefined, false, 'no_connection', 'the connection was closed without an answer'],
  [undefined, true, 'bad_answer', 'the answer broke off'],
  [failing('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'required'), false, 'tls', 'required'],
  [
    Object.assign(failing('ERR_SSL_X', '805C28:error:0A:x.c:1601:'), { reason: 'alert' }),
    false,
    'tls',
    'alert',
  ],
  [new NetworkError('forbidden_address', 'no'), true, 'forbidden_address', 'no'],
] as const) {
  test(`${error?.message ?? 'the end'}, ${hasAnswerByte ? 'after' : 'before'} the first byte, is ${failure}: ${message}`, () => {
    expect(toNetworkError(error, hasAnswerByte)).toMatchObject({ failure, message })
  })
}
