import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

// Self-signed certificates, made when a test needs them: X.509 version 3, P-256, with one name or address.
export type Certificate = { cert: string; key: string }

const day = 24 * 60 * 60 * 1000

export function makeCertificate(host: string, { days = 30 }: { days?: number } = {}): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const body = sequence(
    tag(0xa0, tag(0x02, Buffer.from([2]))), // version 3
    tag(0x02, Buffer.from([1]), randomBytes(8)), // the serial number
    ecdsaWithSha256,
    nameOf(host),
    sequence(time(Date.now() - 90 * day), time(Date.now() + days * day)),
    nameOf(host),
    publicKey.export({ type: 'spki', format: 'der' }),
    tag(0xa3, sequence(isAuthority, subjectName(host))),
  )
  const signature = sign('sha256', body, privateKey)
  const der = sequence(body, ecdsaWithSha256, tag(0x03, Buffer.from([0]), signature))
  const lines = der
    .toString('base64')
    .match(/.{1,64}/g)
    ?.join('\n')
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

function tag(kind: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([kind, ...size]), content])
}

const sequence = (...parts: Buffer[]) => tag(0x30, ...parts)
const octets = (content: Buffer) => tag(0x04, content)
const objectId = (hex: string) => tag(0x06, Buffer.from(hex, 'hex'))

const time = (at: number) =>
  tag(0x18, Buffer.from(`${new Date(at).toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`)) // GeneralizedTime

const ecdsaWithSha256 = sequence(objectId('2a8648ce3d040302'))
const nameOf = (name: string) =>
  sequence(tag(0x31, sequence(objectId('550403'), tag(0x0c, Buffer.from(name)))))
const isAuthority = sequence(objectId('551d13'), octets(sequence(tag(0x01, Buffer.from([0xff])))))

function subjectName(host: string) {
  const name =
    isIP(host) === 0 ? tag(0x82, Buffer.from(host)) : tag(0x87, Buffer.from(ipaddr.parse(host).toByteArray()))
  return sequence(objectId('551d11'), octets(sequence(name)))
}
