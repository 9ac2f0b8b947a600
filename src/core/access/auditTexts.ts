import type { Lang } from '../languages/languages.ts'
import { fill } from '../text.ts'
import type { StoredEntry } from './audit.ts'

// A sentence for each action of the audit log. {subject} is the name or id of what was changed.

type Sentence = readonly [en: string, fr: string]

export const auditTexts = {
  'account.add': [
    '{actor} added the provider account {subject}',
    '{actor} a ajouté le compte prestataire {subject}',
  ],
  'account.change': [
    '{actor} changed the provider account {subject}',
    '{actor} a modifié le compte prestataire {subject}',
  ],
  'account.test': [
    '{actor} tested the provider account {subject}',
    '{actor} a testé le compte prestataire {subject}',
  ],
  'backup.create': [
    '{actor} made the backup {subject} of all data',
    '{actor} a fait la sauvegarde {subject} de toutes les données',
  ],
  'database.adopt': [
    '{actor} declared the database at {subject} the real one',
    '{actor} a déclaré que la base à l’adresse {subject} est celle d’origine',
  ],
  'database.move': [
    '{actor} moved all data to the database at {subject}',
    '{actor} a déplacé toutes les données vers la base à l’adresse {subject}',
  ],
  'handover.open': [
    'The keys of {merchant} were shown by the one-time link',
    'Les clés de {merchant} ont été affichées par le lien à usage unique',
  ],
  'handover.renew': [
    '{actor} made a new one-time link for the keys of {merchant}',
    '{actor} a créé un nouveau lien à usage unique pour les clés de {merchant}',
  ],
  'ipn_password.rotate': [
    '{actor} changed the notification password of {merchant}',
    '{actor} a changé le mot de passe des notifications de {merchant}',
  ],
  'ipn_secret.rotate': [
    '{actor} rotated the signing secret of {merchant}',
    '{actor} a renouvelé la clé de signature de {merchant}',
  ],
  'ipn_secret.revoke': [
    '{actor} revoked the signing secret {subject}',
    '{actor} a révoqué la clé de signature {subject}',
  ],
  'key.revoke': ['{actor} revoked the key {subject}', '{actor} a révoqué la clé {subject}'],
  'key.rotate': ['{actor} made a new key of {merchant}', '{actor} a créé une nouvelle clé de {merchant}'],
  'logo.remove': ['{actor} removed the logo of {merchant}', '{actor} a supprimé le logo de {merchant}'],
  'logo.set': ['{actor} set the logo of {merchant}', '{actor} a changé le logo de {merchant}'],
  'master_key.rotate': ['{actor} rotated the master key', '{actor} a renouvelé la clé principale'],
  'merchant.activate': ['{actor} activated {merchant}', '{actor} a activé {merchant}'],
  'merchant.add': ['{actor} added the merchant {merchant}', '{actor} a ajouté le marchand {merchant}'],
  'merchant.deactivate': ['{actor} deactivated {merchant}', '{actor} a désactivé {merchant}'],
  'notification.redeliver': [
    '{actor} sent notifications again: {subject}',
    '{actor} a renvoyé des notifications : {subject}',
  ],
  'notification.test': [
    '{actor} sent a test notification to the endpoint of {merchant}',
    '{actor} a envoyé une notification de test à l’URL de notification de {merchant}',
  ],
  'outlet.add': ['{actor} added the outlet {subject}', '{actor} a ajouté le point de vente {subject}'],
  'payment.cancel': ['{actor} cancelled the payment {subject}', '{actor} a annulé le paiement {subject}'],
  'payment.request': ['{actor} requested the payment {subject}', '{actor} a demandé le paiement {subject}'],
  'payment.reveal': [
    "{actor} looked at the customer's full data of {subject}",
    '{actor} a consulté les données complètes du client de {subject}',
  ],
  'payment.take': ['{actor} took the payment {subject}', '{actor} a encaissé le paiement {subject}'],
  'payments.export': [
    '{actor} exported payments of {merchant}',
    '{actor} a exporté des paiements de {merchant}',
  ],
  'team.change': [
    '{actor} changed the team role of {subject}',
    '{actor} a changé le rôle de {subject} dans l’équipe',
  ],
  'team.remove': ['{actor} removed {subject} from the team', '{actor} a retiré {subject} de l’équipe'],
  'person.erase': [
    '{actor} began to erase the data of one person ({subject})',
    '{actor} a commencé à effacer les données d’une personne ({subject})',
  ],
  'person.erased': [
    '{actor} finished erasing the data of one person ({subject})',
    '{actor} a fini d’effacer les données d’une personne ({subject})',
  ],
  'money.export': ['{actor} exported a statement or closing', '{actor} a exporté un relevé ou une clôture'],
  'person.export': [
    '{actor} exported the data of one person ({subject})',
    '{actor} a exporté les données d’une personne ({subject})',
  ],
  'person.find': [
    '{actor} looked for one person ({subject})',
    '{actor} a recherché une personne ({subject})',
  ],
  'receipt.send': ['{actor} sent the receipt of {subject} again', '{actor} a renvoyé le reçu de {subject}'],
  'refund.approve': [
    '{actor} approved the refund {subject}',
    '{actor} a approuvé le remboursement {subject}',
  ],
  'refund.create': ['{actor} created the refund {subject}', '{actor} a créé le remboursement {subject}'],
  'refund.record': [
    '{actor} recorded the refund {subject} as done',
    '{actor} a enregistré le remboursement {subject} comme effectué',
  ],
  'refund.reject': ['{actor} rejected the refund {subject}', '{actor} a refusé le remboursement {subject}'],
  'refund.request_approval': [
    '{actor} asked for approval of the refund {subject}',
    '{actor} a demandé l’approbation du remboursement {subject}',
  ],
  'refund.retry': ['{actor} retried the refund {subject}', '{actor} a relancé le remboursement {subject}'],
  'settings.change': [
    '{actor} changed the settings of {merchant}',
    '{actor} a modifié les paramètres de {merchant}',
  ],
  'support.link': [
    '{actor} made a link to the support page',
    '{actor} a créé un lien vers la page d’assistance',
  ],
  'support.token': ['{actor} read the support token', '{actor} a lu le jeton d’assistance'],
  'task.note': [
    '{actor} wrote a note on a task of {subject}',
    '{actor} a écrit une note sur une tâche de {subject}',
  ],
  'task.release': [
    '{actor} gave a task of {subject} back',
    '{actor} n’a plus en charge une tâche de {subject}',
  ],
  'task.take': ['{actor} took a task of {subject}', '{actor} a pris en charge une tâche de {subject}'],
  'task.close': ['{actor} closed a task of {subject}', '{actor} a fermé une tâche de {subject}'],
  'user.activate': ['{actor} activated the account of {subject}', '{actor} a activé le compte de {subject}'],
  'user.change': [
    '{actor} changed name or language of {subject}',
    '{actor} a changé le nom ou la langue de {subject}',
  ],
  'user.deactivate': [
    '{actor} deactivated the account of {subject}',
    '{actor} a désactivé le compte de {subject}',
  ],
  'user.first_account': [
    '{subject} created the first account of the operator',
    '{subject} a créé le premier compte de l’exploitant',
  ],
  'user.invite': ['{actor} invited a person', '{actor} a invité une personne'],
  'user.invite_accept': ['{subject} accepted an invitation', '{subject} a accepté une invitation'],
  'user.invite_revoke': ['{actor} withdrew an invitation', '{actor} a annulé une invitation'],
  'user.password_change': [
    '{actor} changed the password of {subject}',
    '{actor} a changé le mot de passe de {subject}',
  ],
  'user.password_reset': [
    'The password of {subject} was set anew by a link',
    'Le mot de passe de {subject} a été réinitialisé par un lien',
  ],
  'user.recovery_codes': [
    '{actor} made new recovery codes for {subject}',
    '{actor} a créé de nouveaux codes de secours pour {subject}',
  ],
  'user.rescue': [
    '{actor} rescued the account of {subject}, who could not sign in',
    '{actor} a débloqué le compte de {subject}, qui ne pouvait plus se connecter',
  ],
  'user.reset_link': [
    '{actor} made a link for a new password of {subject}',
    '{actor} a créé un lien pour un nouveau mot de passe de {subject}',
  ],
  'user.role': ['{actor} changed the role of {subject}', '{actor} a changé le rôle de {subject}'],
  'user.second_factor_add': [
    '{actor} set up the second factor of {subject}',
    '{actor} a configuré le second facteur de {subject}',
  ],
  'user.second_factor_remove': [
    '{actor} switched the second factor of {subject} off',
    '{actor} a désactivé le second facteur de {subject}',
  ],
  'user.second_factor_reset': [
    '{actor} reset the second factor of {subject}',
    '{actor} a réinitialisé le second facteur de {subject}',
  ],
  'user.sessions_end': ['{actor} signed out other browsers', '{actor} a déconnecté d’autres navigateurs'],
  'user.sign_in': ['{actor} signed in', '{actor} s’est connecté'],
} as const satisfies Record<string, Sentence>

const words = {
  command: ['The command of {id}', 'La commande de {id}'],
  token: ['The support token', 'Le jeton d’assistance'],
} as const satisfies Record<string, Sentence>

const at = (lang: Lang) => (lang === 'fr' ? 1 : 0)

export function auditActor({ actor_kind, actor_id, actor_name }: StoredEntry, lang: Lang): string {
  if (actor_kind === 'user') return actor_name ?? actor_id
  return fill(words[actor_kind][at(lang)], { id: actor_id })
}

// An action of a newer version has no sentence yet.
export function auditSentence(entry: StoredEntry, lang: Lang): string {
  const known: Readonly<Record<string, Sentence>> = auditTexts
  const sentence = known[entry.action]?.[at(lang)] ?? `{actor}: ${entry.action}, {subject}`
  const merchant = entry.merchant_name ?? entry.merchant_id ?? ''
  const subject = entry.subject_name ?? (entry.subject === entry.merchant_id ? merchant : entry.subject)
  return fill(sentence, { actor: auditActor(entry, lang), subject, merchant })
}

const shownValue = (value: unknown) =>
  value === null || value === undefined
    ? ''
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value)

// What was changed: each value before and after.
export const auditChanges = ({ before, after }: Pick<StoredEntry, 'before' | 'after'>) =>
  [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].map(name => ({
    name,
    before: shownValue(before?.[name]),
    after: shownValue(after?.[name]),
  }))
