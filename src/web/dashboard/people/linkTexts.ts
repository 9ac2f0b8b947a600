import { maxUserName } from '../../../core/access/user.ts'
import type { Lang } from '../../../core/languages/languages.ts'

const en = {
  resetTitle: 'Choose a new password',
  resetText: 'Enter your email. If it has an account here, we send a link for a new password.',
  send: 'Send the link',
  sentTitle: 'Look into your mailbox',
  sentText:
    'If {email} has an account, a mail is on its way. Its link works once, within 30 minutes. If none comes, look into the spam folder, or ask the person who invited you.',
  emailFault: 'Write an email address, such as ama@example.com.',
  newPassword: 'New password',
  passwordHint: 'At least 10 characters. All sessions end, and the second factor stays.',
  save: 'Save the password',
  ended: {
    title: 'This link works no more',
    text: 'It was used, has expired, or was replaced by a newer one. Ask for a new one.',
  },
  askAgain: 'Ask for a new link',
  invitationTitle: 'Join {merchant}',
  operatorTitle: 'Help to run this gateway',
  joinAs: 'Your role: {role}. You sign in as {email}.',
  hasAccount: 'This email has an account here. Accept, and sign in as always.',
  name: 'Your name',
  nameFault: `Write a name of at most ${maxUserName} characters.`,
  password: 'Password',
  newPasswordHint: 'At least 10 characters. Four words that do not belong together are good.',
  language: 'Language',
  accept: 'Accept the invitation',
}

const fr: typeof en = {
  resetTitle: 'Choisir un nouveau mot de passe',
  resetText:
    'Saisissez votre e-mail. Si un compte y est associé, nous envoyons un lien pour choisir un nouveau mot de passe.',
  send: 'Envoyer le lien',
  sentTitle: 'Consultez votre messagerie',
  sentText:
    'Si un compte est associé à {email}, un e-mail est en cours d’envoi. Son lien fonctionne une seule fois, pendant 30 minutes. Si rien n’arrive, vérifiez les courriers indésirables, ou adressez-vous à la personne qui vous a invité.',
  emailFault: 'Indiquez une adresse e-mail, par exemple ama@example.com.',
  newPassword: 'Nouveau mot de passe',
  passwordHint: 'Au moins 10 caractères. Toutes vos sessions seront fermées ; le second facteur reste actif.',
  save: 'Enregistrer le mot de passe',
  ended: {
    title: 'Ce lien ne fonctionne plus',
    text: 'Il a déjà servi, a expiré ou a été remplacé par un plus récent. Demandez-en un nouveau.',
  },
  askAgain: 'Demander un nouveau lien',
  invitationTitle: 'Rejoindre {merchant}',
  operatorTitle: 'Aider à gérer cette passerelle',
  joinAs: 'Votre rôle : {role}. Vous vous connectez avec {email}.',
  hasAccount: 'Un compte existe déjà pour cet e-mail. Acceptez, puis connectez-vous comme d’habitude.',
  name: 'Votre nom',
  nameFault: `Indiquez un nom de ${maxUserName} caractères au plus.`,
  password: 'Mot de passe',
  newPasswordHint: 'Au moins 10 caractères. Quatre mots sans rapport entre eux conviennent.',
  language: 'Langue',
  accept: 'Accepter l’invitation',
}

export const linkTexts: Record<Lang, typeof en> = { en, fr }
