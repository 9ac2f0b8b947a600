import type { Config } from '../config.ts'
import type { AddressRules } from '../core/addressRules.ts'
import type { Mode } from '../core/mode.ts'
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

// Which addresses notifications are sent to. By default loopback is allowed on a developer's machine only: a gateway that
// others can reach must not send to services on its own host.
export const notificationRules =
  (config: Config, isEmbedded: boolean) =>
  (mode: Mode): AddressRules => ({
    allowLoopback:
      config.TOLLGATE_EGRESS_LOOPBACK ?? (isEmbedded && config.isForThisMachineOnly && mode === 'test'),
    ports: config.TOLLGATE_EGRESS_PORTS,
  })
