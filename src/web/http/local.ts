import type { IncomingMessage } from 'node:http'
import { isLoopbackName } from '../../core/thisMachine.ts'

// Whoever passes a request on says so by one of these, if at all.
const passedOn =
  /^(via|forwarded|proxy-connection|cdn-loop|cf-.+|x-(forwarded|original|real|envoy|amzn?|azure|arr|vercel|cloud|appengine)(-.+)?|.+-client-?ip|.+-(connecting|connection)-ip)$/

// Asked by this machine itself. To be believed only by a gateway that nobody else reaches: a proxy may say nothing. One
// that was told nothing asks by HTTP/1.0, as nobody else does.
export const isFromThisMachine = ({ headers, socket, httpVersion }: IncomingMessage) =>
  /^(127\.|::1$|::ffff:127\.)/.test(socket.remoteAddress ?? '') &&
  httpVersion !== '1.0' &&
  isOwnName(headers.host ?? '') &&
  !Object.keys(headers).some(name => passedOn.test(name))

// A page from elsewhere may point its own name at this machine and have the browser of somebody here ask.
const isOwnName = (host: string) => isLoopbackName(host.replace(/:\d+$/, ''))
