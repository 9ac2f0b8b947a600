import type { Lang } from '../languages/languages.ts'

// Why a payment keeps its personal data for now.
export const keptReasons = {
  not_ended: { en: 'it may still be paid', fr: 'il peut encore être payé' },
  attempt: { en: 'the outcome of an attempt is unknown', fr: 'le résultat d’une tentative est inconnu' },
  refund: { en: 'a refund is open', fr: 'un remboursement est ouvert' },
  dispute: { en: 'a dispute is open', fr: 'un litige est ouvert' },
  task: { en: 'a task is open', fr: 'une tâche est ouverte' },
  notification: { en: 'a notification is still to be sent', fr: 'une notification est encore à envoyer' },
  message: { en: 'a message is still to be sent', fr: 'un message est encore à envoyer' },
  busy: { en: 'it was being changed at that moment', fr: 'il était en cours de modification' },
} as const satisfies Record<string, Record<Lang, string>>
