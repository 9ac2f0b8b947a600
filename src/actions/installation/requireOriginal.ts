import type { InstallationState } from '../../core/installation/installationState.ts'
import { refusedOnCopy, refusedOnMoved } from '../../core/installation/installationTexts.ts'
import { NotOriginal } from '../../core/interface/refusal.ts'
import type { Mode } from '../../core/mode.ts'
import type { PaymentDeps } from '../../runtime/runtime.ts'

// Called before anything is changed that moves live money or that a shop sees. A copy of the database takes test payments,
// so that a drill can try it: nothing of them is sent either. A database that has moved takes none.
export function requireOriginal({ installation }: Pick<PaymentDeps, 'installation'>, mode: Mode): void {
  const state = installation()
  if (state.is === 'original' || (state.is === 'copy' && mode === 'test')) return
  throw notOriginal(state)
}

// For what is sent again at the request of an operator or a merchant: a copy sends nothing in either mode.
export const requireSending = (deps: Pick<PaymentDeps, 'installation'>): void => requireOriginal(deps, 'live')

const notOriginal = ({ is }: InstallationState) =>
  new NotOriginal(is === 'moved' ? refusedOnMoved : refusedOnCopy)
