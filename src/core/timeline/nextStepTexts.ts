import type { Lang } from '../languages/languages.ts'
import type { TaskKind } from '../payment/change.ts'
import type { Obstacle } from '../payment/mayStart.ts'

// What happens next with a payment. {attempt} is a number, {what} is `refund`.

const en = {
  nothing: 'Nothing: {reason}',
  nothingElse: 'Nothing else: {reason}',
  task: 'An operator has to look: {what}',
  tasks: {
    refund: 'a refund of {money} is open',
    amount_mismatch: '{note}',
    amountTaken: 'the provider took {money}', // of an amount_mismatch without a note
    unresolved: 'the outcome of the attempt has been unknown for a day',
    other_order: '{note}',
    reference_taken: '{note}',
    reversed: 'the provider refunded {money}. {note}',
    dispute_opened: "the customer's bank disputes {money}. {note}",
    dispute_lost: 'a dispute over {money} was lost. {note}',
    not_set_up: '{note}',
    account_refused: '{note}',
    unknown_code: 'the provider refuses with the code {note}, which is unknown',
    refund_needs_action: '{note}',
    refund_unclear: '{note}',
    refund_exceeds: '{note}',
    not_recorded: 'the answer of the provider could not be stored. {note}',
  } satisfies Record<TaskKind | 'amountTaken', string>,
  pollPaid: 'We ask for refunds and disputes of attempt {attempt}',
  pollFailed: 'We ask again about attempt {attempt}, in case its failure is reversed',
  sendAgain: 'We try again to send attempt {attempt} to {method}',
  pollStatus: 'We ask {method} for the status of attempt {attempt} ({times})',
  polled: { never: 'not asked yet', once: 'asked once so far', often: 'asked {count} times so far' },
  refund: 'the refund of {money}',
  pollFailedRefund: 'We ask again about {what}, in case its failure is reversed',
  sendRefund: 'We send {what} to {account}',
  pollRefund: 'We ask {account} about {what}',
  shopRepeats: 'If the shop sends the same request again, the payment opens again',
  otherwise: {
    cancelled: 'becomes cancelled',
    open: 'stays open, for the customer to go on',
    failed: 'becomes failed',
  },
  closingGivesUp: 'Closing the task gives attempt {attempt} up, and the payment {otherwise}',
  notSentYet:
    'Nothing was sent yet: attempt {attempt} fails if it cannot be sent within a minute of its start',
  taskOpens: 'A task is opened if the outcome is still unknown',
  endsOtherwise:
    'When attempt {attempt} ends without success the payment {otherwise}; if the money arrives, paid',
  ends: 'Success makes the payment paid, failure failed; it does not expire while attempt {attempt} is open',
  timeIsOver: 'The time is over: the payment becomes failed',
  closedNow: 'The shop is deactivated, so no payment is possible now',
  expires: 'The checkout expires, and the payment becomes failed',
  expiresMayPay: 'The checkout expires, and the payment becomes failed; until then the customer may pay',
  expiresMayRetry: 'The checkout expires; until then the customer may try again',
  nextTry: 'The next try is accepted; each failure makes the wait a little longer',
  // Why nothing happens any more. Of the obstacles, some cannot occur and are here for the compiler.
  reasons: {
    expired: 'the time to pay is over',
    no_retry: 'this shop allows no retry after a failure',
    too_many: 'the maximum number of attempts was made',
    closed: 'the shop is deactivated',
    cancelled: 'the customer cancelled',
    unresolved: 'an attempt is on its way',
    paid: 'paid is final',
  } satisfies Record<Exclude<Obstacle, 'too_soon'>, string>,
  notified: 'The shop is notified, try {number}',
}

export type NextStepTexts = typeof en

const fr: NextStepTexts = {
  nothing: 'Rien : {reason}',
  nothingElse: 'Rien d’autre : {reason}',
  task: 'Un exploitant doit intervenir : {what}',
  tasks: {
    refund: 'un remboursement de {money} est à faire',
    amount_mismatch: '{note}',
    amountTaken: 'le prestataire a débité {money}',
    unresolved: 'la tentative est sans résultat depuis un jour',
    other_order: '{note}',
    reference_taken: '{note}',
    reversed: 'le prestataire a remboursé {money}. {note}',
    dispute_opened: 'la banque du client conteste {money}. {note}',
    dispute_lost: 'un litige de {money} est perdu. {note}',
    not_set_up: '{note}',
    account_refused: '{note}',
    unknown_code: 'le prestataire refuse avec le code {note}, qui est inconnu',
    refund_needs_action: '{note}',
    refund_unclear: '{note}',
    refund_exceeds: '{note}',
    not_recorded: 'la réponse du prestataire n’a pas pu être enregistrée. {note}',
  },
  pollPaid: 'Nous demandons s’il y a des remboursements ou des litiges pour la tentative {attempt}',
  pollFailed: 'Nous vérifions encore la tentative {attempt}, au cas où elle aurait finalement réussi',
  sendAgain: 'Nouvel essai d’envoi de la tentative {attempt} à {method}',
  pollStatus: 'Nous demandons à {method} le statut de la tentative {attempt} ({times})',
  polled: {
    never: 'pas encore demandé',
    once: 'demandé une fois jusqu’ici',
    often: 'demandé {count} fois jusqu’ici',
  },
  refund: 'le remboursement de {money}',
  pollFailedRefund: 'Nous vérifions encore {what}, au cas où il aurait finalement réussi',
  sendRefund: 'Nous envoyons {what} à {account}',
  pollRefund: 'Nous vérifions {what} auprès de {account}',
  shopRepeats: 'Si la boutique renvoie la même demande, le paiement est rouvert',
  otherwise: {
    cancelled: 'est annulé',
    open: 'reste ouvert, pour que le client continue',
    failed: 'échoue',
  },
  closingGivesUp: 'Fermer la tâche met fin à la tentative {attempt}, et le paiement {otherwise}',
  notSentYet:
    'Rien n’a encore été envoyé : la tentative {attempt} échoue si elle ne peut pas être envoyée dans la minute',
  taskOpens: 'Une tâche est ouverte si le résultat est toujours inconnu',
  endsOtherwise:
    'Si la tentative {attempt} se termine sans succès, le paiement {otherwise} ; si l’argent arrive, il est payé',
  ends: 'Si elle réussit, le paiement est payé, sinon il échoue ; il n’expire pas tant que la tentative {attempt} est ouverte',
  timeIsOver: 'Le délai est écoulé : le paiement échoue',
  closedNow: 'La boutique est désactivée : aucun paiement n’est possible',
  expires: 'La page de paiement expire, et le paiement échoue',
  expiresMayPay: 'La page de paiement expire, et le paiement échoue ; d’ici là, le client peut payer',
  expiresMayRetry: 'La page de paiement expire ; d’ici là, le client peut réessayer',
  nextTry: 'Un nouvel essai est accepté ; chaque échec allonge un peu l’attente',
  reasons: {
    expired: 'le délai de paiement est écoulé',
    no_retry: 'cette boutique ne permet pas de réessayer après un échec',
    too_many: 'le nombre maximal de tentatives est atteint',
    closed: 'la boutique est désactivée',
    cancelled: 'le client a annulé',
    unresolved: 'une tentative est en cours',
    paid: 'un paiement payé est définitif',
  },
  notified: 'La boutique est notifiée, essai {number}',
}

export const nextStepTexts: Record<Lang, NextStepTexts> = { en, fr }
