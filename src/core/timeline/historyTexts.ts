import type { Lang } from '../languages/languages.ts'
import type { CustomerTopic, shownState } from '../message/message.ts'
import type { Medium } from '../message/messenger.ts'
import type { Status } from '../payment/payment.ts'

// What happened to notifications and messages, beside the events of the payment. {name} is a status, {what} is `message`.

const en = {
  notification: 'notification',
  statuses: {
    awaiting_payment: '“awaiting payment”',
    paid: '“paid”',
    cancelled: '“cancelled”',
    failed: '“failed”',
  } satisfies Record<Status, string>,
  acknowledged: 'The shop acknowledged {name}',
  never: 'The shop never acknowledged {name}: {tries}, given up',
  beingNotified: 'The shop is being notified of {name}, try {number}',
  notified: 'The shop is notified of {name}{next}',
  notAcknowledged: 'The shop has not acknowledged {name}: {tries}{next}',
  next: ', next {time}',
  oneTry: '1 try',
  tries: '{count} tries',
  whoMessage: 'message',
  message: 'The {topic} by {medium}',
  media: { sms: 'SMS', email: 'email' } satisfies Record<Medium, string>,
  topics: {
    paid: 'receipt',
    failed: 'message “not paid”',
    cancelled: 'message “cancelled”',
    refunded: 'message “refunded”',
  } satisfies Record<CustomerTopic, string>,
  states: {
    queued: '{what} is on its way',
    going: '{what} is on its way',
    kept: '{what} is in the inbox',
    sent: '{what} went out',
    delivered: '{what} was delivered',
    dropped: '{what} was not sent',
  } satisfies Record<ReturnType<typeof shownState>, string>,
}

type HistoryTexts = typeof en

const fr: HistoryTexts = {
  notification: 'notification',
  statuses: {
    awaiting_payment: '« en attente »',
    paid: '« payé »',
    cancelled: '« annulé »',
    failed: '« échoué »',
  },
  acknowledged: 'La boutique a confirmé {name}',
  never: 'La boutique n’a jamais confirmé {name} : {tries}, envoi abandonné',
  beingNotified: 'Notification de {name} à la boutique en cours, essai {number}',
  notified: 'La boutique va être notifiée de {name}{next}',
  notAcknowledged: 'La boutique n’a pas confirmé {name} : {tries}{next}',
  next: ', prochain essai : {time}',
  oneTry: '1 essai',
  tries: '{count} essais',
  whoMessage: 'message',
  message: '{topic} par {medium}',
  media: { sms: 'SMS', email: 'e-mail' },
  topics: {
    paid: 'Reçu',
    failed: 'Message « non payé »',
    cancelled: 'Message « annulé »',
    refunded: 'Message « remboursé »',
  },
  states: {
    queued: '{what} : en cours d’envoi',
    going: '{what} : en cours d’envoi',
    kept: '{what} : dans la boîte de test',
    sent: '{what} : envoyé',
    delivered: '{what} : remis',
    dropped: '{what} : non envoyé',
  },
}

export const historyTexts: Record<Lang, HistoryTexts> = { en, fr }
