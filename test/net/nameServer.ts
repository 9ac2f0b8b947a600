import { createSocket, type RemoteInfo } from 'node:dgram'
import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { later } from './support.ts'

// The answer to one query: addresses, `alias name` before the addresses of that name, or no answer.
export type Reply = readonly string[] | 'nxdomain' | 'servfail' | 'silent'
// `count` is the number of queries of that type for that name, from 1.
export type Zone = (name: string, type: 'A' | 'AAAA', asked: number) => Reply

const types = { A: 1, CNAME: 5, AAAA: 28 } as const
const codes = { nxdomain: 3, servfail: 2 } as const

// A fake name server. It answers what the zone returns, whatever the type of the query.
export async function startNameServer(zone: Zone) {
  const asked = new Map<string, number>()
  const socket = createSocket('udp4')
  socket.on('message', (message, from) => answer(message, from))

  function answer(message: Buffer, from: RemoteInfo) {
    const { name, end } = readName(message, 12)
    const type = message.readUInt16BE(end) === types.AAAA ? 'AAAA' : 'A'
    const key = `${name} ${type}`
    asked.set(key, (asked.get(key) ?? 0) + 1)
    const reply = zone(name, type, asked.get(key) as number)
    if (reply === 'silent') return
    socket.send(write(message, end + 4, name, reply), from.port, from.address)
  }

  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve))
  later(() => socket.close())
  return { address: `127.0.0.1:${socket.address().port}`, asked }
}

function readName(message: Buffer, start: number) {
  const labels: string[] = []
  let at = start
  for (let length = message[at] as number; length > 0; length = message[at] as number) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}

function write(message: Buffer, questionEnd: number, name: string, reply: Exclude<Reply, 'silent'>) {
  const records = typeof reply === 'string' ? [] : writeRecords(name, reply)
  const header = Buffer.alloc(12)
  message.copy(header, 0, 0, 2)
  header.writeUInt16BE(0x8180 | (typeof reply === 'string' ? codes[reply] : 0), 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(records.length, 6)
  return Buffer.concat([header, message.subarray(12, questionEnd), ...records])
}

function writeRecords(name: string, reply: readonly string[]) {
  let owner = name
  return reply.map(item => {
    if (isIPv4(item)) return record(owner, types.A, addressBytes(item))
    if (isIPv6(item)) return record(owner, types.AAAA, addressBytes(item))
    const alias = item.replace('alias ', '')
    const made = record(owner, types.CNAME, nameBytes(alias))
    owner = alias
    return made
  })
}

const addressBytes = (address: string) => Buffer.from(ipaddr.parse(address).toByteArray())

const nameBytes = (name: string) =>
  Buffer.concat([
    ...name.split('.').map(label => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.alloc(1),
  ])

function record(owner: string, type: number, data: Buffer) {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(1, 2)
  fixed.writeUInt32BE(300, 4) // long, so that a cache would show itself
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([nameBytes(owner), fixed, data])
}
