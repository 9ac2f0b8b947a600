import type { Lang } from '../../../core/languages/languages.ts'
import { type Reason, reasons } from '../../../core/provider/reason.ts'
import { withoutControls } from '../../../core/timeline/history.ts'
import { storedText } from '../../../core/timeline/storedSentences.ts'

// Why a payment is not paid, in a few words.

const en: Record<Reason, string> = {
  insufficient_funds: 'Not enough money in the wallet',
  declined: 'Declined on the phone',
  not_completed: 'The customer turned back at the card page',
  no_answer: 'No answer on the phone in time',
  withdrawn: 'The customer withdrew the request',
  limit_reached: 'A limit of the account was reached',
  no_wallet: 'The number has no wallet on this network',
  wallet_blocked: 'The wallet is not active',
  wrong_voucher: 'The voucher code was not accepted',
  network_error: 'The provider lost its connection to the network',
  card_declined: 'The bank did not honour the card',
  card_expired: 'The card has expired',
  wrong_cvv: 'The CVV of the card was wrong',
  not_authenticated: 'The 3-D Secure step was not passed',
  refused: 'The provider refused the payment',
  provider_error: 'The provider could not carry it out',
  account_trouble: 'The provider did not accept our account',
  reversed: 'The provider reversed the charge',
  never_arrived: 'The request never reached the provider',
  not_sent: 'The provider could not be reached',
  given_up: 'Closed by a person',
  expired: 'The time to pay was over',
  cancelled: 'The customer cancelled',
}

const fr: Record<Reason, string> = {
  insufficient_funds: 'Solde insuffisant',
  declined: 'Refusé sur le téléphone',
  not_completed: 'Le client a quitté la page de paiement par carte',
  no_answer: 'Pas de réponse à temps sur le téléphone',
  withdrawn: 'Le client a retiré la demande',
  limit_reached: 'Un plafond du compte est atteint',
  no_wallet: 'Le numéro n’a pas de compte mobile money chez cet opérateur',
  wallet_blocked: 'Le compte mobile money n’est pas actif',
  wrong_voucher: 'Le code du bon n’a pas été accepté',
  network_error: 'Le prestataire a perdu sa connexion au réseau',
  card_declined: 'La banque n’a pas accepté la carte',
  card_expired: 'La carte a expiré',
  wrong_cvv: 'Le cryptogramme de la carte était incorrect',
  not_authenticated: 'L’authentification 3-D Secure a échoué',
  refused: 'Le prestataire a refusé le paiement',
  provider_error: 'Le prestataire n’a pas pu exécuter le paiement',
  account_trouble: 'Le prestataire n’a pas accepté notre compte',
  reversed: 'Le prestataire a annulé le débit',
  never_arrived: 'La demande n’est jamais parvenue au prestataire',
  not_sent: 'Le prestataire était injoignable',
  given_up: 'Clôturé par une personne',
  expired: 'Le délai de paiement était écoulé',
  cancelled: 'Le client a annulé',
}

export const failureTexts: Record<Lang, Record<Reason, string>> = { en, fr }

export const reasonCodes: ReadonlyMap<string, Reason> = new Map(
  Object.entries(reasons).map(([code, sentence]) => [sentence as string, code as Reason]),
)

export function failureText(status_reason: string, lang: Lang): string {
  const code = reasonCodes.get(status_reason)
  return code ? failureTexts[lang][code] : withoutControls(storedText(status_reason, lang))
}
