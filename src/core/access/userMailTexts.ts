import type { Lang } from '../languages/languages.ts'
import type { OwnerAlert } from './ownerAlert.ts'

// A change of a user's account, mailed to that user.
export type PersonNotice =
  | 'password'
  | 'second_factor_on'
  | 'second_factor_off'
  | 'passkey_added'
  | 'passkey_removed'
  | 'role'
  | 'removed'
  | 'deactivated'
  | 'activated'

const en = {
  invitation: {
    title: 'You are invited to the team of {merchant}',
    text: [
      '{by} invites you to work with the payments of {merchant}.',
      'The link works once, within {days} days. If you did not expect it, do nothing.',
    ],
    button: 'Accept the invitation',
  },
  operatorInvitation: {
    title: 'You are invited to run this gateway',
    text: [
      'You are invited to the operator’s part of Tollgate. It requires an authenticator app.',
      'The link works once, within {days} days. If you did not expect it, do nothing.',
    ],
    button: 'Accept the invitation',
  },
  reset: {
    title: 'Choose a new password',
    text: [
      'A person, probably you, has asked for a new password. Until you choose one, the old one stays valid.',
      'The link works once, within {minutes} minutes. If it was not you, do nothing.',
    ],
    button: 'Choose a new password',
  },
  noAccount: {
    title: 'No password was reset',
    text: [
      'A person, probably you, has asked for a new password with this address. It has no account here whose password can be reset by mail.',
      'Ask the person who runs the gateway or invited you. If it was not you, do nothing.',
    ],
    button: 'Open the dashboard',
  },
  alert: { title: 'A change at {merchant}', button: 'Open the dashboard' },
  alerts: {
    keys: 'Keys or signing secrets of {merchant} were changed. If you do not know why, look at the audit log and rotate the keys.',
    ipn_url:
      'The address that is notified of the payments of {merchant} was changed. If you do not know why, look at the settings now.',
    payout:
      'Where the money of {merchant} is paid out was changed. If you do not know why, call the operator now.',
    refund: 'A large refund of {merchant} was requested or approved. If you do not know why, look at it now.',
    team: 'The team of {merchant} was changed: a person was invited, removed or got another role. If you do not know why, look at the team now.',
    settings: 'The settings of {merchant} were changed. If you do not know why, look at the audit log.',
  } satisfies Record<OwnerAlert, string>,
  notices: {
    password: 'Your password was changed',
    second_factor_on: 'A second factor was set up for your account',
    second_factor_off: 'The second factor of your account was removed',
    passkey_added: 'A passkey was added to your account',
    passkey_removed: 'A passkey of your account was removed',
    role: 'Your role was changed',
    removed: 'You were removed from the team of {merchant}',
    deactivated: 'Your account was deactivated',
    activated: 'Your account is active again',
  } satisfies Record<PersonNotice, string>,
  notYou:
    'If you do not know why, sign in, look at your sessions and change your password, or call the operator.',
  toAccount: 'Open your account',
  by: 'By',
  at: 'At',
  foot: 'Sent by a Tollgate gateway to the people who sign in to it.',
}

export type UserMailTexts = typeof en

const fr: UserMailTexts = {
  invitation: {
    title: 'Vous êtes invité dans l’équipe de {merchant}',
    text: [
      '{by} vous invite à suivre les paiements de {merchant}.',
      'Le lien fonctionne une seule fois, pendant {days} jours. Si vous n’attendiez pas cette invitation, ne faites rien.',
    ],
    button: 'Accepter l’invitation',
  },
  operatorInvitation: {
    title: 'Vous êtes invité à gérer cette passerelle',
    text: [
      'Vous êtes invité dans l’espace exploitant de Tollgate. Il exige une application d’authentification.',
      'Le lien fonctionne une seule fois, pendant {days} jours. Si vous n’attendiez pas cette invitation, ne faites rien.',
    ],
    button: 'Accepter l’invitation',
  },
  reset: {
    title: 'Choisissez un nouveau mot de passe',
    text: [
      'Quelqu’un, sans doute vous, a demandé un nouveau mot de passe. L’ancien reste valable tant que vous n’en choisissez pas un autre.',
      'Le lien fonctionne une seule fois, pendant {minutes} minutes. Si ce n’était pas vous, ne faites rien.',
    ],
    button: 'Choisir un nouveau mot de passe',
  },
  noAccount: {
    title: 'Aucun mot de passe n’a été réinitialisé',
    text: [
      'Quelqu’un, sans doute vous, a demandé un nouveau mot de passe avec cette adresse. Aucun compte dont le mot de passe peut être réinitialisé par e-mail n’y est associé.',
      'Adressez-vous à la personne qui gère la passerelle ou qui vous a invité. Si ce n’était pas vous, ne faites rien.',
    ],
    button: 'Ouvrir le tableau de bord',
  },
  alert: { title: 'Une modification chez {merchant}', button: 'Ouvrir le tableau de bord' },
  alerts: {
    keys: 'Des clés d’API ou de signature de {merchant} ont été modifiées. Si vous n’en connaissez pas la raison, consultez le journal d’audit et renouvelez les clés.',
    ipn_url:
      'L’URL qui reçoit les notifications des paiements de {merchant} a été modifiée. Si vous n’en connaissez pas la raison, vérifiez immédiatement les paramètres.',
    payout:
      'Le compte sur lequel {merchant} reçoit ses versements a été modifié. Si vous n’en connaissez pas la raison, appelez immédiatement l’exploitant.',
    refund:
      'Un remboursement important de {merchant} a été demandé ou approuvé. Si vous n’en connaissez pas la raison, vérifiez-le immédiatement.',
    team: 'L’équipe de {merchant} a changé : quelqu’un a été invité, retiré ou a reçu un autre rôle. Si vous n’en connaissez pas la raison, vérifiez immédiatement l’équipe.',
    settings:
      'Les paramètres de {merchant} ont été modifiés. Si vous n’en connaissez pas la raison, consultez le journal d’audit.',
  },
  notices: {
    password: 'Votre mot de passe a été changé',
    second_factor_on: 'Un second facteur a été configuré pour votre compte',
    second_factor_off: 'Le second facteur de votre compte a été retiré',
    passkey_added: 'Une clé d’accès a été ajoutée à votre compte',
    passkey_removed: 'Une clé d’accès de votre compte a été supprimée',
    role: 'Votre rôle a été changé',
    removed: 'Vous avez été retiré de l’équipe de {merchant}',
    deactivated: 'Votre compte a été désactivé',
    activated: 'Votre compte est de nouveau actif',
  },
  notYou:
    'Si vous n’en connaissez pas la raison, connectez-vous, vérifiez vos sessions et changez votre mot de passe, ou appelez l’exploitant.',
  toAccount: 'Ouvrir votre compte',
  by: 'Par',
  at: 'Le',
  foot: 'Envoyé par une passerelle Tollgate aux personnes qui s’y connectent.',
}

export const userMailTexts: Record<Lang, UserMailTexts> = { en, fr }
