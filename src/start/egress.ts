import type { Config } from '../config.ts'
import type { Egress } from '../core/provider/provider.ts'
import type { OutboundOptions } from '../net/outbound.ts'

// Decides from which address and through which proxy requests are sent:
//
// | Requests to | Proxy |
// |---|---|
// | merchants: notifications and logos | TOLLGATE_EGRESS_PROXY, never a provider's |
// | a provider | the account's own egress_proxy, otherwise TOLLGATE_PROVIDER_EGRESS_PROXY |
// | an SMS gateway, and everything else | none |
//
// HTTPS_PROXY, NO_PROXY and similar variables are not read.
export const merchantEgress = (config: Config): OutboundOptions => ({
  sourceAddress: config.TOLLGATE_EGRESS_ADDRESS,
  proxy: config.TOLLGATE_EGRESS_PROXY,
  ports: config.TOLLGATE_EGRESS_PORTS,
  nameServers: config.TOLLGATE_EGRESS_DNS,
})

export const providerEgress = (config: Config): Egress => ({
  address: config.TOLLGATE_PROVIDER_EGRESS_ADDRESS,
  proxy: config.TOLLGATE_PROVIDER_EGRESS_PROXY,
})
