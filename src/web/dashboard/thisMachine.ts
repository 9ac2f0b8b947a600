import type { IncomingMessage } from 'node:http'
import { isLoopbackName } from '../../core/networkSettings.ts'

// Whether the connection comes from this machine. A proxy may hide its client, so this narrows access and never grants it.
export const isFromThisMachine = ({ socket }: IncomingMessage) =>
  isLoopbackName((socket.remoteAddress ?? '').replace(/^::ffff:/, ''))
