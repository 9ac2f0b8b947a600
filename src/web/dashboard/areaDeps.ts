import type { SendToMerchant } from '../../actions/notifications/testNotification.ts'
import type { MasterKeys } from '../../actions/merchants/credentials.ts'
import type { CanSend } from '../../actions/messages/receipts.ts'
import type { MessageRules } from '../../core/message/messageRules.ts'
import type { OperatorKeys } from '../../core/operator/operatorKeys.ts'
import type { Metrics } from '../../observe/metrics.ts'
import type { Messengers } from '../../runtime/messengers.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { AccountsOfGateway } from '../../actions/providers/accountPages.ts'

// What the areas need.
export type AreaDeps = {
  runtime: Runtime
  masterKeys: MasterKeys
  metrics: Metrics
  providers: AccountsOfGateway
  operatorKeys: OperatorKeys
  messageRules: MessageRules
  sendToMerchant: SendToMerchant
  messengers?: Pick<Messengers, 'configured'> & { carries: CanSend }
  isForThisMachineOnly: boolean
  hasDemo: boolean // a new installation for this machine shows itself to its first visitor
  isOverloaded(): boolean
  trustedProxies: number
  redactDays?: number // after so many days the personal data of payers is removed
  erasingMs?: number // how long one request erases a person
}
