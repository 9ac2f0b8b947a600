import type { Exit } from './exit.ts'
import { Say } from './say.tsx'
import { type View, wholeWindow } from './view.ts'

type LeaveProps = { view: View; exit: Exit | undefined; text: string; button?: boolean }

// The way back to the shop. Its address may have come through the hands of the customer, so it says where it leads:
// here, in the notice of a page that leaves by itself, or in the button, when the merchant has not registered it.
export const Leave = ({ view, exit, text, button }: LeaveProps) =>
  exit ? (
    <p class={button ? undefined : 'quiet'}>
      <a href={exit.url} rel="noreferrer" class={button ? 'button' : undefined} {...wholeWindow(view)}>
        {exit.known ? (
          <Say text={text} shop={<bdi>{view.checkout.merchant_name}</bdi>} />
        ) : (
          <Say text={view.t.leave.to} host={<bdi>{exit.host}</bdi>} />
        )}
      </a>
      {exit.known && !view.leaves && (
        <small class="host">
          <Say text={view.t.leave.leads} host={<bdi>{exit.host}</bdi>} />
        </small>
      )}
    </p>
  ) : null

// Before the page leaves by itself.
export const LeavingSoon = ({ view, exit }: Pick<LeaveProps, 'view' | 'exit'>) =>
  view.leaves && exit ? (
    <p class="quiet soon">
      <Say
        text={view.t.leave.soon}
        shop={<bdi>{view.checkout.merchant_name}</bdi>}
        host={<bdi>{exit.host}</bdi>}
      />
    </p>
  ) : null
