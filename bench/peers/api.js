// Their interfaces over HTTP: JSON when something is set up, bytes ready to be written when it is measured.
/** @type {(url: string, asked: { method?: string, token?: string, body?: object }) => Promise<any>} */
export async function callApi(url, { method = 'POST', token, body }) {
  const headers = {
    'content-type': 'application/json',
    ...(token ? { authorization: `Bearer ${token}` } : {}),
  }
  const asked = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) }
  const answer = await fetch(url, asked)
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${new URL(url).pathname} was answered ${answer.status}: ${text}`)
  return text ? JSON.parse(text) : undefined
}

export function postBytes(path, token, body) {
  const text = JSON.stringify(body)
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  )
}

// The payload: as long as a notification of Tollgate.
export const messageOf = id => ({ invoice_id: id, status: 'cancelled', padding: '.'.repeat(520) })
export const idOf = (endpoint, n) => `e${endpoint}-${n}`
