// Started in a network namespace: relays each TCP connection to a socket in the file system, the first port to the first
// socket, and so on. Ends when it is killed.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

const [firstPort, ...paths] = process.argv.slice(2)

for (const [at, path] of paths.entries()) {
  const server = createServer({ noDelay: true, allowHalfOpen: true }, client => {
    const upstream = connect({ path, allowHalfOpen: true })
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ]) {
      one.on('error', () => {}).on('close', () => other.end())
      one.pipe(other)
    }
  })
  await once(server.listen(Number(firstPort) + at), 'listening')
}
console.log('ready')
