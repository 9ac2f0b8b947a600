import type { Lang } from '../../../core/languages/languages.ts'

const en = {
  title: 'Messages',
  filters: { all: 'All', failed: 'Failed', waiting: 'Waiting', sent: 'Sent' },
  none: 'There is no such message.',
  newest: 'The newest',
  older: 'Older ones',
  to: 'To',
  mail: 'Mail',
  state: 'State',
  about: 'About',
  merchant: 'Merchant',
  why: 'What the messenger said',
  tries: 'Tries',
  time: 'Time',
  states: {
    queued: 'Queued',
    going: 'Being sent',
    sent: 'Sent',
    delivered: 'Delivered',
    kept: 'In the inbox',
    dropped: 'Not sent',
  },
  topics: {
    paid: 'Receipt',
    failed: 'Not paid',
    cancelled: 'Cancelled',
    refunded: 'Refund',
    exhausted: 'Notifications not delivered',
  } as Readonly<Record<string, string>>,
}

type MessagesTexts = typeof en

const fr: MessagesTexts = {
  title: 'Messages',
  filters: { all: 'Tous', failed: 'Échoués', waiting: 'En attente', sent: 'Envoyés' },
  none: 'Aucun message de ce type.',
  newest: 'Les plus récents',
  older: 'Plus anciens',
  to: 'À',
  mail: 'E-mail',
  state: 'État',
  about: 'Objet',
  merchant: 'Marchand',
  why: 'Réponse du service d’envoi',
  tries: 'Essais',
  time: 'Heure',
  states: {
    queued: 'En attente',
    going: 'En cours d’envoi',
    sent: 'Envoyé',
    delivered: 'Remis',
    kept: 'Dans la boîte de test',
    dropped: 'Non envoyé',
  },
  topics: {
    paid: 'Reçu',
    failed: 'Non payé',
    cancelled: 'Annulé',
    refunded: 'Remboursement',
    exhausted: 'Notifications non remises',
  },
}

export const messagesTexts: Record<Lang, MessagesTexts> = { en, fr }
