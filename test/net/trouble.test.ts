import { expect, test } from 'vitest'
import { Trouble, troubleOf } from '../../src/net/trouble.ts'

const failing = (code: string, message: string) => Object.assign(new Error(message), { code })

for (const [error, heard, failure, words] of [
  [failing('ECONNRESET', 'read ECONNRESET'), false, 'no_connection', 'the connection was reset'],
  [failing('ECONNRESET', 'read ECONNRESET'), true, 'bad_answer', 'the connection was reset'],
  [
    failing('UND_ERR_SOCKET', 'other side closed'),
    false,
    'no_connection',
    'the connection was closed without an answer',
  ],
  [failing('UND_ERR_SOCKET', 'other side closed'), true, 'bad_answer', 'the answer broke off'],
  [failing('HPE_INVALID_CONSTANT', 'Expected HTTP/'), true, 'bad_answer', 'Expected HTTP/'],
  [failing('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'required'), false, 'tls', 'required'],
  [new Trouble('forbidden_address', 'no'), true, 'forbidden_address', 'no'],
] as const) {
  test(`${error.message}, ${heard ? 'after' : 'before'} the first byte, is ${failure}: ${words}`, () => {
    expect(troubleOf(error, heard)).toMatchObject({ failure, message: words })
  })
}
