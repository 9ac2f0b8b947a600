import type { ListedAccount } from '../../../actions/installation/liveView.ts'
import type { AccountsOfGateway } from '../../../actions/providers/accountPages.ts'

export const listedAccountsOf = ({ accounts }: AccountsOfGateway): ListedAccount[] =>
  accounts().map(({ account, mode, methods, isDisabled }) => ({
    account,
    mode,
    methods: methods.map(({ payment_method }) => payment_method),
    isDisabled,
  }))
