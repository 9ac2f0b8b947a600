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
  resetText: 'Entrez votre e-mail. S’il a un compte ici, nous envoyons un lien pour un nouveau mot de passe.',
  send: 'Envoyer le lien',
  sentTitle: 'Regardez votre messagerie',
  sentText:
    'Si {email} a un compte, un e-mail est en route. Son lien fonctionne une fois, pendant 30 minutes. Si rien n’arrive, regardez les indésirables, ou demandez à la personne qui vous a invité.',
  emailFault: 'Écrivez une adresse e-mail, par exemple ama@example.com.',
  newPassword: 'Nouveau mot de passe',
  passwordHint: 'Au moins 10 caractères. Toutes les sessions se terminent, et le second facteur reste.',
  save: 'Enregistrer le mot de passe',
  ended: {
    title: 'Ce lien ne fonctionne plus',
    text: 'Il a servi, a expiré, ou un plus récent le remplace. Demandez-en un nouveau.',
  },
  askAgain: 'Demander un nouveau lien',
  invitationTitle: 'Rejoindre {merchant}',
  operatorTitle: 'Aider à gérer cette passerelle',
  joinAs: 'Votre rôle : {role}. Vous vous connectez comme {email}.',
  hasAccount: 'Cet e-mail a un compte ici. Acceptez, et connectez-vous comme toujours.',
  name: 'Votre nom',
  nameFault: `Écrivez un nom d’au plus ${maxUserName} caractères.`,
  password: 'Mot de passe',
  newPasswordHint: 'Au moins 10 caractères. Quatre mots sans rapport entre eux conviennent.',
  language: 'Langue',
  accept: 'Accepter l’invitation',
}

export const linkTexts: Record<Lang, typeof en> = { en, fr }
