import type { PasswordFault } from '../../../core/access/password.ts'
import type { Lang } from '../../../core/languages/languages.ts'

const en = {
  signIn: 'Sign in',
  email: 'Email',
  password: 'Password',
  forgotten: 'I have forgotten my password',
  wrong: 'The email or the password is wrong.',
  tooOften: 'Too many tries. Wait a minute, then try again.',
  passkey: 'Sign in with a passkey',
  passkeyFailed: 'The passkey did not work. Sign in with your password.',
  secondFactor: 'Second factor',
  codeText: 'Enter the code that your authenticator app shows, or one of your recovery codes.',
  code: 'Code',
  wrongCode: 'The code is wrong, or it was used before. Wait for the next one.',
  ended: 'Too much time has passed. Sign in again.',
  next: 'Continue',
  back: 'Back to sign-in',
  confirm: 'Confirm that it is you',
  confirmText: 'The next step is sensitive. Enter your password again, or a code of your authenticator app.',
  confirmPassword: 'Enter your password again: the next step is sensitive.',
  confirmField: 'Password or code',
  wrongConfirm: 'That is wrong.',
  signedOut: 'You are signed out.',
  changed: 'Your password is changed. Sign in with it.',
  joined: 'You have accepted the invitation. Sign in to continue.',
  faults: {
    short: 'Use at least 10 characters.',
    long: 'Use at most 200 characters.',
    common:
      'This password is among the first guesses. Use another one, such as four words that do not belong together.',
  } satisfies Record<PasswordFault, string>,
}

export type SignInTexts = typeof en

const fr: SignInTexts = {
  signIn: 'Se connecter',
  email: 'E-mail',
  password: 'Mot de passe',
  forgotten: 'J’ai oublié mon mot de passe',
  wrong: 'L’e-mail ou le mot de passe est incorrect.',
  tooOften: 'Trop d’essais. Attendez une minute, puis réessayez.',
  passkey: 'Se connecter avec une clé d’accès',
  passkeyFailed: 'La clé d’accès n’a pas fonctionné. Connectez-vous avec votre mot de passe.',
  secondFactor: 'Second facteur',
  codeText:
    'Saisissez le code qu’affiche votre application d’authentification, ou l’un de vos codes de secours.',
  code: 'Code',
  wrongCode: 'Le code est incorrect ou a déjà servi. Attendez le suivant.',
  ended: 'Le délai est dépassé. Connectez-vous à nouveau.',
  next: 'Continuer',
  back: 'Retour à la connexion',
  confirm: 'Confirmez votre identité',
  confirmText:
    'L’étape suivante est sensible. Saisissez à nouveau votre mot de passe, ou un code de votre application d’authentification.',
  confirmPassword: 'Saisissez à nouveau votre mot de passe : l’étape suivante est sensible.',
  confirmField: 'Mot de passe ou code',
  wrongConfirm: 'Le mot de passe ou le code est incorrect.',
  signedOut: 'Vous êtes déconnecté.',
  changed: 'Votre mot de passe est modifié. Connectez-vous avec le nouveau.',
  joined: 'Vous avez accepté l’invitation. Connectez-vous pour continuer.',
  faults: {
    short: 'Utilisez au moins 10 caractères.',
    long: 'Utilisez au plus 200 caractères.',
    common:
      'Ce mot de passe est trop courant. Choisissez-en un autre, par exemple quatre mots sans rapport entre eux.',
  },
}

export const signInTexts: Record<Lang, SignInTexts> = { en, fr }
