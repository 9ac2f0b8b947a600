import { networkInterfaces } from 'node:os'
import type { Config } from '../../config.ts'
import { type Check, failed, fine, warning } from './check.ts'

export const checkEgress = (config: Config): Check[] => [
  ...checkNotifications(config),
  ...checkRequests(config),
]

const isOurs = (wanted: string) =>
  Object.values(networkInterfaces()).some(addresses => addresses?.some(({ address }) => address === wanted))

// How requests to providers do.
function checkRequests(config: Config): Check[] {
  const from = config.TOLLGATE_PROVIDER_EGRESS_ADDRESS
  if (!from || isOurs(from)) return []
  const todo = 'Correct TOLLGATE_PROVIDER_EGRESS_ADDRESS, or leave it out: no provider could be reached.'
  return [failed('egress', `${from} is not an address of this machine`, todo)]
}

// How notifications leave the house.
function checkNotifications({
  TOLLGATE_EGRESS_ADDRESS: from,
  TOLLGATE_EGRESS_PROXY: proxy,
  TOLLGATE_EGRESS_LOOPBACK: loopback,
  isForThisMachineOnly,
}: Config): Check[] {
  if (from && !isOurs(from))
    return [
      failed(
        'egress',
        `${from} is not an address of this machine`,
        'Correct TOLLGATE_EGRESS_ADDRESS, or leave it out: no notification could leave.',
      ),
    ]
  const way = [from && `from ${from}`, proxy && `by the proxy ${new URL(proxy).host}`].filter(Boolean)
  return [
    ...(way.length > 0 ? [fine('egress', `notifications leave ${way.join(', ')}`)] : []),
    ...(loopback && !isForThisMachineOnly ? [inwards] : []),
  ]
}

const inwards = warning(
  'egress',
  'merchants may have addresses of this machine notified, although others reach this gateway',
  'Leave TOLLGATE_EGRESS_LOOPBACK out, unless every merchant is yours.',
)
