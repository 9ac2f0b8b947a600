import type { Logger } from 'pino'
import type { NodeWatch } from '../workers/nodes/node.ts'

// What the operator reads of the nodes among themselves.
export const watchNodes = (log: Logger): NodeWatch => ({
  deaf: () =>
    log.warn(
      'nothing that other nodes say is heard, as behind a pooler by transaction: notifications between nodes wait for ' +
        'the next look, and those of a killed node for the end of their lease',
    ),
  gone: (node, leases) => log.warn({ node, leases }, 'a node is gone: what it was sending is sent again'),
})
