import { send, sign } from './merchant.ts'

type Keys = { merchant_key: string; secret_key: string }

export const nowSeconds = () => Math.floor(Date.now() / 1000)

// A request that signs all its fields and its time, written from the documentation only.
export function signedFields(keys: Keys, fields: Record<string, string | number> = {}) {
  const all: Record<string, string | number> = {
    merchant_key: keys.merchant_key,
    time: nowSeconds(),
    ...fields,
  }
  const text = Object.keys(all)
    .toSorted()
    .map(name => `${name}=${all[name]}`)
    .join('&')
  return { ...all, secure_hash: sign(keys.secret_key, text) }
}

export const postJson = (address: string, body: unknown) =>
  send(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

export const trigger = (url: string, keys: Keys, fields: Record<string, string | number>) =>
  postJson(`${url}/v1/test/triggers`, signedFields(keys, fields))

export const advance = (url: string, keys: Keys, by: string, fields: Record<string, string> = {}) =>
  postJson(`${url}/v1/test/clock`, signedFields(keys, { advance: by, ...fields }))
