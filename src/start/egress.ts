import type { Config } from '../config.ts'
import type { OutboundOptions } from '../net/http1/outbound.ts'

// The way out of the house, as the operator has set it.
export const egressOf = (config: Config): OutboundOptions => ({
  sourceAddress: config.TOLLGATE_EGRESS_ADDRESS,
  proxy: config.TOLLGATE_EGRESS_PROXY,
  ports: config.TOLLGATE_EGRESS_PORTS,
  nameServers: config.TOLLGATE_EGRESS_DNS,
})
