import type { Lang } from '../languages/languages.ts'
import { fill } from '../text.ts'

// Why a setting of a merchant or of a provider account, or a logo, is refused, in French. Commands and the API say it in English.

const french: Readonly<Record<string, string>> = {
  'must be on or off': 'doit être on ou off',
  'must be a whole number': 'doit être un nombre entier',
  'must be from {min} to {max}': 'doit être compris entre {min} et {max}',
  'must be an absolute http or https URL': 'doit être une adresse http ou https complète',
  '{word} is not an origin such as {example}': '{word} n’est pas une origine comme {example}',
  'at most {count} origins': '{count} origines au plus',
  '{word} is not the name of an extra_ field, 1 to 64 letters, digits, _ . or -':
    '{word} n’est pas le nom d’un champ extra_ : 1 à 64 lettres, chiffres, _ . ou -',
  'must not name a key of the gateway: {names}': 'ne doit pas nommer une clé de la passerelle : {names}',
  '{word} is none of {list}': '{word} n’est pas l’une de {list}',
  '{word} is not a payment method such as {example}': '{word} n’est pas un moyen de paiement comme {example}',
  '{word} is not an account or a provider such as mtn-4f7k2q or mtn':
    '{word} n’est pas un compte ou un prestataire comme mtn-4f7k2q ou mtn',
  'must be post, get or basic': 'doit être post, get ou basic',
  'must be any or registered': 'doit être any ou registered',
  'must be merchant, operator or customer': 'doit être merchant, operator ou customer',
  'must be keep or return': 'doit être keep ou return',
  'is not an email address': 'n’est pas une adresse e-mail',
  'is not a possible phone number, such as {example}':
    'n’est pas un numéro de téléphone possible, comme {example}',
  'at most {count} characters': '{count} caractères au plus',
  'must be one line of text': 'doit être une seule ligne de texte',
  'must be a colour such as {example}': 'doit être une couleur comme {example}',
  'white text on {colour} has a contrast of {ratio}, and {least} is required; {other} would be accepted':
    'un texte blanc sur {colour} a un contraste de {ratio}, et {least} est exigé ; {other} serait acceptée',
  'must be a plain decimal such as {example} (got {text})':
    'doit être un nombre décimal simple comme {example} (reçu : {text})',
  'at most {count} digits before the dot (got {text})':
    '{count} chiffres au plus avant le point (reçu : {text})',
  'at most {count} decimals (got {text})': '{count} décimales au plus (reçu : {text})',
  '{currency} has no decimals (got {text})': '{currency} n’a pas de décimales (reçu : {text})',
  'must be more than zero': 'doit être supérieur à zéro',
  '{word} is not a known currency': '{word} n’est pas une devise connue',
  '{word} is a second figure for every currency': '{word} est un second montant pour toutes les devises',
  '{word} is a second figure for {currency}': '{word} est un second montant pour {currency}',
  'needs a figure for every other currency, too': 'un montant est aussi nécessaire pour les autres devises',
  'must not be more than max_total, which is {amount}': 'ne doit pas dépasser max_total, soit {amount}',
  'every payment method has two rules': 'deux règles s’appliquent à tous les moyens de paiement',
  '{method} has two rules': '{method} a deux règles',
  '{word} is not a fee such as {example}': '{word} ne désigne pas des frais comme {example}',
  'the fee must not be at least more than it is at most':
    'le minimum des frais ne doit pas dépasser leur maximum',
  'the percentage must be 100 or less': 'le pourcentage doit être de 100 au plus',
  'basic sends a password, which is sent only to the origins of the merchant; set {ipn_url} or {origins} with it, or choose another style first':
    'basic envoie un mot de passe, et seulement aux origines du marchand ; réglez en même temps {ipn_url} ou {origins}, ou choisissez d’abord un autre format',
  '1 to {count} characters on one line': 'de 1 à {count} caractères sur une ligne',
  'no such merchant': 'ce marchand n’existe pas',
  // Of provider accounts. Beside a field that is missing stands already what it is for.
  'is missing. Refunds need all of {names}': 'est obligatoire. Les remboursements exigent {names}',
  'is missing. {words}': 'est obligatoire',
  'is given twice': 'est indiqué deux fois',
  'no such setting; there are {names}': 'ce réglage n’existe pas ; il y a {names}',
  'must not contain control characters': 'ne doit pas contenir de caractères de contrôle',
  'must be an IP address of this machine': 'doit être une adresse IP de cette machine',
  'must be a URL such as {example}': 'doit être une URL comme {example}',
  'must be a target environment of MTN, such as sandbox or {example}':
    'doit être un environnement cible de MTN, comme sandbox ou {example}',
  'is not a known currency': 'n’est pas une devise connue',
  '{environment} takes {currency}': '{environment} utilise {currency}',
  'must be of letters and digits, without spaces': 'doit se composer de lettres et de chiffres, sans espace',
  'must begin with {start}': 'doit commencer par {start}',
  '{name} must be a secret key of Paystack: {examples}':
    '{name} doit être une clé secrète de Paystack : {examples}',
  '{name} must be an http or https address': '{name} doit être une adresse http ou https',
  'These are settings of another account at the provider ({scope} instead of {former}), which does not know the payments that are under way. Add it as a separate account, and disable this one.':
    'Ces réglages sont ceux d’un autre compte chez le prestataire ({scope} au lieu de {former}), qui ne connaît pas les paiements en cours. Ajoutez-le comme compte séparé, et désactivez celui-ci.',
  'it has more than {count} kB': 'elle dépasse {count} ko',
  'it is a GIF: save it as PNG or JPEG': 'c’est un GIF : enregistrez-la en PNG ou en JPEG',
  'it is a WebP: save it as PNG or JPEG': 'c’est un WebP : enregistrez-la en PNG ou en JPEG',
  'it is an AVIF or HEIC: save it as PNG or JPEG':
    'c’est un AVIF ou un HEIC : enregistrez-la en PNG ou en JPEG',
  'it is an SVG: save it as PNG or JPEG': 'c’est un SVG : enregistrez-la en PNG ou en JPEG',
  'it is not a known picture format: save it as PNG or JPEG':
    'ce format d’image est inconnu : enregistrez-la en PNG ou en JPEG',
  'it has {size} kB, and at most {most} kB are allowed: make it smaller, such as {example}, or with fewer colours':
    'elle fait {size} ko, et {most} ko au plus sont permis : réduisez-la, par exemple à {example}, ou utilisez moins de couleurs',
}

const special = /[\\^$.*+?()[\]{}|/]/g

const faults = Object.entries(french).map(([english, text]) => {
  const names = [...english.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const parts = english.split(/\{\w+\}/).map(part => part.replace(special, '\\$&'))
  return { pattern: new RegExp(`^${parts.join('(.{0,3000}?)')}$`, 's'), names, text }
})

const emptyWords: Readonly<Record<string, string>> = {
  'an empty word': 'un mot vide',
  'an empty rule': 'une règle vide',
}

// A fault that is not in the table stays as it is.
export function settingFaultIn(fault: string, lang: Lang): string {
  if (lang === 'en') return fault
  for (const { pattern, names, text } of faults) {
    const found = pattern.exec(fault)
    if (!found) continue
    const valueOf = (at: number) => emptyWords[found[at + 1] ?? ''] ?? found[at + 1] ?? ''
    return fill(text, Object.fromEntries(names.map((name, at) => [name, valueOf(at)])))
  }
  return fault
}
