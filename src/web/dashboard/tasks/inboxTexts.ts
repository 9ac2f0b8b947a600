import type { Lang } from '../../../core/languages/languages.ts'

const en = {
  title: 'Tasks',
  open: 'Open',
  closed: 'Closed',
  mine: 'Mine',
  unowned: 'Without an owner',
  all: 'All',
  kind: 'Kind',
  allKinds: 'Every kind',
  show: 'Show',
  task: 'Task',
  amount: 'Amount',
  merchant: 'Merchant',
  owner: 'Owner',
  age: 'Since',
  none: 'No task is like this.',
  next: 'Older ones',
  first: 'The newest',
  back: 'All tasks',
  proposed: 'Proposed: {what}',
  toPayment: 'Open the payment',
  refundCharge: 'Refund this charge',
  refundText: 'The button refunds exactly the charge of attempt {number}. In a shell:',
  refundAsMember:
    'You are a member of this merchant’s team, which refunds only what its customer owed. Another operator can refund this charge.',
  refundElsewhere:
    'It cannot be refunded here: no amount in the currency of the payment is known of this charge. Refund it in the dashboard of the provider, then close this task.',
  toAccount: 'Open the account {account}',
  toRefunds: 'Open the refunds',
  payment: 'Payment',
  attempt: 'Attempt',
  account: 'Provider account',
  found: 'What was found',
  working: 'Who works on it',
  nobody: 'Nobody works on it.',
  take: 'Take it',
  release: 'Give it back',
  note: 'Your note',
  noteHint:
    'For the operators: what you found, and what is next. Do not write names or numbers of customers.',
  saveNote: 'Save the note',
  redacted: 'The payer’s data was removed, so no more notes are kept. Close the task with what you did.',
  close: 'Close the task',
  closeHint: 'What you found and did. It is kept with the payment.',
  closeText: 'Deal with the money first.',
  givesUp:
    'The attempt is given up, too, if the provider has not ended it: the payment can then be tried again.',
  closeButton: 'Close it',
  closedAt: 'Closed at {at}: {note}',
  noteFault: '1 to {max} characters',
  done: {
    taken: 'You work on this task now.',
    released: 'Nobody works on this task now.',
    noted: 'The note is saved.',
    closed: 'The task is closed.',
    already: 'Nothing was changed: it was like this already.',
    changed:
      'Nothing was changed: another person worked on this task since you opened the page. This is how it is now.',
  },
}

type InboxTexts = typeof en

const fr: InboxTexts = {
  title: 'Tâches',
  open: 'Ouvertes',
  closed: 'Fermées',
  mine: 'Les miennes',
  unowned: 'Sans responsable',
  all: 'Toutes',
  kind: 'Type',
  allKinds: 'Tous les types',
  show: 'Afficher',
  task: 'Tâche',
  amount: 'Montant',
  merchant: 'Marchand',
  owner: 'Responsable',
  age: 'Depuis',
  none: 'Aucune tâche ne correspond.',
  next: 'Plus anciennes',
  first: 'Les plus récentes',
  back: 'Toutes les tâches',
  proposed: 'Proposition : {what}',
  toPayment: 'Ouvrir le paiement',
  refundCharge: 'Rembourser ce débit',
  refundText: 'Le bouton rembourse exactement le débit de la tentative {number}. Dans un terminal :',
  refundAsMember:
    'Vous êtes membre de l’équipe de ce marchand, qui ne rembourse que ce que son client devait. Un autre exploitant peut rembourser ce débit.',
  refundElsewhere:
    'Il ne peut pas être remboursé ici : aucun montant dans la devise du paiement n’est connu pour ce débit. Remboursez-le dans le tableau de bord du prestataire, puis fermez cette tâche.',
  toAccount: 'Ouvrir le compte {account}',
  toRefunds: 'Ouvrir les remboursements',
  payment: 'Paiement',
  attempt: 'Tentative',
  account: 'Compte prestataire',
  found: 'Ce qui a été constaté',
  working: 'Qui s’en occupe',
  nobody: 'Personne ne s’en occupe.',
  take: 'Prendre en charge',
  release: 'Ne plus la prendre en charge',
  note: 'Votre note',
  noteHint:
    'Pour les exploitants : ce que vous avez constaté, et la suite. N’écrivez ni nom ni numéro de client.',
  saveNote: 'Enregistrer la note',
  redacted:
    'Les données du payeur ont été supprimées : aucune note n’est plus conservée. Fermez la tâche en indiquant ce que vous avez fait.',
  close: 'Fermer la tâche',
  closeHint: 'Ce que vous avez constaté et fait. Ce texte est conservé avec le paiement.',
  closeText: 'Réglez d’abord la question de l’argent.',
  givesUp:
    'La tentative est aussi abandonnée, si le prestataire ne l’a pas terminée : le paiement peut alors être réessayé.',
  closeButton: 'Fermer la tâche',
  closedAt: 'Fermée le {at} : {note}',
  noteFault: '1 à {max} caractères',
  done: {
    taken: 'Vous êtes maintenant responsable de cette tâche.',
    released: 'Cette tâche n’a plus de responsable.',
    noted: 'La note est enregistrée.',
    closed: 'La tâche est fermée.',
    already: 'Rien n’a été modifié : c’était déjà le cas.',
    changed:
      'Rien n’a été modifié : quelqu’un s’est occupé de cette tâche depuis que vous avez ouvert la page. Voici son état.',
  },
}

export const inboxTexts: Record<Lang, InboxTexts> = { en, fr }
export type TaskNotice = keyof InboxTexts['done']
