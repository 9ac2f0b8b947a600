import { expect, test } from 'vitest'
import { answers, cut, readAll } from './responseTable.ts'

for (const [what, text, status, body, reusable] of answers) {
  const bytes = Buffer.from(text, 'latin1')

  test(`${what}: it is the same in one packet, cut in two anywhere, and byte by byte`, () => {
    const whole = readAll([bytes])
    expect(whole).toMatchObject({ body, reusable })
    expect(whole.head?.status ?? null).toBe(status)
    for (let at = 1; at < bytes.length; at++) expect(readAll(cut(bytes, [at]))).toEqual(whole)
    expect(readAll(Array.from(bytes, byte => Buffer.from([byte])))).toEqual(whole)
  })
}

for (const [what, text] of answers.filter(([, , , , reusable]) => reusable)) {
  test(`${what}: a byte behind it closes the connection`, () => {
    expect(readAll([Buffer.from(`${text}H`, 'latin1')])).toMatchObject({ over: true, reusable: false })
  })
}

test('the headers may have 16 KiB, with the interim answers before them', () => {
  const interim = 'HTTP/1.1 100 Continue\r\n\r\n'
  const last = 'HTTP/1.1 204 No\r\nx: \r\n\r\n'
  for (const [length, status] of [
    [16 * 1024, 204],
    [16 * 1024 + 1, undefined],
  ] as const) {
    const filling = 'a'.repeat(length - interim.length - last.length)
    const bytes = Buffer.from(interim + last.replace('x: ', `x: ${filling}`))
    expect(readAll([bytes]).head?.status).toBe(status)
    expect(readAll(cut(bytes, [1000, 16 * 1024])).head?.status).toBe(status)
  }
})

test('64 KiB of a body are read, and the first 4 KiB are kept', () => {
  const letters = 'abcdefgh'.repeat(16 * 1024)
  const kept = letters.slice(0, 4096)
  for (const [length, reusable] of [
    [64 * 1024, true],
    [64 * 1024 + 1, false],
  ] as const) {
    const head = `HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n`
    const bytes = Buffer.from(head + letters.slice(0, length))
    for (const packets of [[bytes], cut(bytes, [head.length + 4000, head.length + 5000])])
      expect(readAll(packets)).toMatchObject({ body: kept, over: true, reusable })
  }
})

test('chunk extensions and trailers count as read', () => {
  const bytes = Buffer.from(
    `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;${'x'.repeat(64 * 1024)}\r\nok\r\n0\r\n\r\n`,
  )
  expect(readAll([bytes])).toMatchObject({ body: '', over: true, reusable: false })
})
