import type { LetterTexts } from './en.ts'

// Le français. L’espace devant « : » est insécable, sauf dans un SMS, qui n’en a pas de telle.
export const fr: LetterTexts = {
  locale: 'fr-FR',
  dir: 'ltr',
  somebody: 'la boutique',

  sms: {
    paid: [
      'Payé {amount} à {shop}. Réf. {reference}. Reçu : {link}',
      'Payé {amount} à {shop}. Réf. {reference} {link}',
      'Payé {amount} à {shop} {reference} {link}',
      'Payé {amount} à {shop}. Réf. {reference}',
    ],
    failed: [
      'Non payé : {amount} à {shop}. Réf. {reference}. Détails : {link}',
      'Non payé : {amount} à {shop}. Réf. {reference} {link}',
      'Non payé {amount} à {shop} {reference} {link}',
      'Non payé : {amount} à {shop}. Réf. {reference}',
    ],
    cancelled: [
      'Annulé : {amount} à {shop}. Réf. {reference}. Détails : {link}',
      'Annulé : {amount} à {shop}. Réf. {reference} {link}',
      'Annulé {amount} à {shop} {reference} {link}',
      'Annulé : {amount} à {shop}. Réf. {reference}',
    ],
  },

  subjects: {
    paid: 'Payé : {amount} à {shop}',
    failed: 'Non payé : {amount} à {shop}',
    cancelled: 'Annulé : {amount} à {shop}',
  },

  mail: {
    test: 'TEST : aucun argent réel n’a circulé',
    paid: 'Payé',
    paid_words: 'Votre paiement à {shop} est effectué.',
    cancelled: 'Annulé',
    cancelled_words: 'Ce paiement a été annulé.',
    nothing_taken: 'Rien n’a été prélevé.',
    late: 'Si l’argent arrive malgré tout, le paiement est considéré comme fait et {shop} en est informé.',
    try_again:
      'Tant que le paiement est ouvert, vous pouvez réessayer ou payer autrement sur la page du paiement.',
    start_again: 'Pour payer malgré tout, retournez chez {shop} et recommencez.',
    keep_reference: 'Une personne l’a examiné. Si vous avez une question, conservez la référence.',
    see_receipt: 'Voir le reçu',
    see_payment: 'Voir le paiement',
    why_you: 'Vous recevez ce message parce que cette adresse a été donnée pour le paiement.',
    pin: 'Ne donnez jamais votre code PIN : nous ne le demandons pas.',
    secured: 'Sécurisé par Tollgate',
  },

  facts: {
    paid_to: 'Payé à',
    to: 'À',
    description: 'Objet',
    invoice: 'Facture',
    paid_with: 'Payé avec',
    tried_with: 'Essayé avec',
    when: 'Date',
    reference: 'Référence',
  },

  names: { card: 'Carte' },

  reasons: {
    insufficient_funds: 'Non payé : le solde du compte est insuffisant',
    declined: 'Non payé : la demande a été refusée sur le téléphone',
    not_completed: 'Non payé : vous avez quitté la page de la carte',
    no_answer: 'Non payé : la demande n’a pas été approuvée à temps',
    withdrawn: 'Non payé : la demande a été retirée',
    limit_reached: 'Non payé : un plafond du compte est atteint',
    no_wallet: 'Non payé : ce numéro n’a pas de portefeuille sur ce réseau',
    wallet_blocked: 'Non payé : le portefeuille n’est pas actif',
    wrong_voucher: 'Non payé : le code du bon n’a pas été accepté',
    network_error: 'Non payé : le réseau a eu un problème',
    card_declined: 'Non payé : votre banque n’a pas accepté la carte',
    card_expired: 'Non payé : la carte a expiré',
    wrong_cvv: 'Non payé : le code de sécurité n’est pas le bon',
    not_authenticated: 'Non payé : la vérification de votre banque n’a pas abouti',
    refused: 'Non payé : le prestataire a refusé',
    never_arrived: 'Non payé : la demande n’est pas arrivée',
    not_sent: 'Non payé : le prestataire est injoignable',
    given_up: 'Non payé : cet essai a été clos',
    expired: 'Non payé : le délai de paiement est écoulé',
    cancelled: 'Non payé : le paiement a été annulé',
  },
}
