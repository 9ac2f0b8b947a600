import type { Exit } from './exit.ts'
import { Say } from './say.tsx'
import type { View } from './view.ts'

type LeaveProps = { view: View; exit: Exit | undefined; text: string; button?: boolean }

// The way back to the shop. An address that the merchant has not registered says where it leads.
export const Leave = ({ view: { checkout, t }, exit, text, button }: LeaveProps) =>
  exit ? (
    <p class={button ? undefined : 'quiet'}>
      <a href={exit.url} rel="noreferrer" class={button ? 'button' : undefined}>
        {exit.known ? (
          <Say text={text} shop={<bdi>{checkout.merchant_name}</bdi>} />
        ) : (
          <Say text={t.leave.to} host={<bdi>{exit.host}</bdi>} />
        )}
      </a>
    </p>
  ) : null
