import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()
const text = (bytes: Buffer) => bytes.toString('base64url')

const head = (major: number, n: number) =>
  n < 24
    ? Buffer.from([(major << 5) | n])
    : n < 256
      ? Buffer.from([(major << 5) | 24, n])
      : Buffer.from([(major << 5) | 25, n >> 8, n & 255])

// CBOR of what an authenticator sends: small integers, byte strings, texts and maps.
function cbor(value: number | string | Buffer | Map<unknown, unknown>): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  const pairs = [...value].flatMap(([name, of]) => [cbor(name as number), cbor(of as number)])
  return Buffer.concat([head(5, value.size), ...pairs])
}

const counter = (count: number) => Buffer.from([0, 0, count >> 8, count & 255])

// An authenticator in software, with one passkey. `count` is the counter that it sends.
export function softAuthenticator(origin: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const id = randomBytes(16)
  const rp = sha256(new URL(origin).hostname)
  const clientData = (type: string, challenge: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
  const credential = (response: Record<string, string>) =>
    JSON.stringify({
      id: text(id),
      rawId: text(id),
      type: 'public-key',
      clientExtensionResults: {},
      response,
    })
  return {
    create(challenge: string, count = 0) {
      const key = new Map<number, number | Buffer>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, 'base64url')],
        [-3, Buffer.from(y, 'base64url')],
      ])
      const length = Buffer.from([0, id.length])
      const data = Buffer.concat([
        rp,
        Buffer.from([0x45]),
        counter(count),
        Buffer.alloc(16),
        length,
        id,
        cbor(key),
      ])
      const attestation = new Map<string, unknown>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', data],
      ])
      return credential({
        clientDataJSON: text(clientData('webauthn.create', challenge)),
        attestationObject: text(cbor(attestation)),
      })
    },
    // Flag 4: the person was verified by PIN, finger or face.
    get(challenge: string, count: number, flags = 0x05) {
      const data = Buffer.concat([rp, Buffer.from([flags]), counter(count)])
      const client = clientData('webauthn.get', challenge)
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey)
      return credential({
        clientDataJSON: text(client),
        authenticatorData: text(data),
        signature: text(signature),
      })
    },
  }
}
