import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { storedText } from '../../../src/core/timeline/storedSentences.ts'

// Sentences that the gateway stores are written all over the source. This test reads the source, so that a new one without
// its French fails here.

const src = join(import.meta.dirname, '../../../src')
const places = [
  'core/payment',
  'core/refund',
  'core/provider',
  'core/message',
  'actions/payments',
  'actions/refunds',
  'actions/providers',
  'actions/messages',
  'runtime/providers',
  'runtime/messengers.ts',
  'providers',
  'messengers',
  'workers/messages',
  'workers/deliveries',
  'workers/providerHealth.ts',
  'net',
]

// Files whose sentences are for operators who set something up, and are not stored with a payment.
const notStored = [
  'core/message/texts/',
  'core/payment/change.ts', // taskKinds, which verdictTexts.ts has
  'core/provider/accountSettings.ts',
  'actions/providers/accountPages.ts',
  'actions/providers/checkAccount.ts',
  'actions/providers/setAccount.ts',
  'runtime/providers/accounts.ts',
  'runtime/providers/openAccount.ts',
  'runtime/providers/storedAccounts.ts',
]

// A value in them is one of a few words, each of which has its own sentence; or they describe a setting.
const composed = [
  'Refund 7: 7.',
  'The request had no 7.',
  'The payment is 7 by now.',
  "The gateway's own address.",
  'A new one at each start.',
  '7 7 7', // an address and what it leads to
  'cancelled', // a connection that nobody waits for any more
  'From Settings, API Keys & Webhooks, of the Paystack dashboard. sk_test_... takes test payments, sk_live_... real ones.',
]

const filesIn = (place: string): string[] =>
  place.endsWith('.ts')
    ? [place]
    : readdirSync(join(src, place), { recursive: true, encoding: 'utf8' })
        .filter(name => name.endsWith('.ts'))
        .map(name => `${place}/${name}`)

// Literals are found by their quotes, after the comments are removed. A value inside a template becomes 7.
const literal = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g
const withoutComments = (code: string) => code.replace(/^\s*\/\/.*$|\s\/\/ .*$/gm, '')

const isSentence = (text: string) => /^[A-Z0-9]/.test(text) && / \S+ /.test(text) && text.endsWith('.')
const isThrown = /throw new (?!NotSent)\w*\([^()]*$/ // an error of a programmer or of a setting
const isFrench = /\bfrench:\s*$/ // a text of a setting in its other language
const isNetworkError = /new NetworkError\(\s*'\w+',\s*$/

function sentencesIn(file: string): string[] {
  const code = withoutComments(readFileSync(join(src, file), 'utf8'))
  return [...code.matchAll(literal)].flatMap(({ index, 1: single, 2: double, 3: template }) => {
    const text = (single ?? double ?? template ?? '')
      .replace(/\$\{[^}]*\}(?= [A-Z])/g, 'So.')
      .replace(/\$\{[^}]*\}/g, '7')
      .replaceAll("\\'", "'")
    const before = code.slice(Math.max(0, index - 200), index)
    if (isNetworkError.test(before)) return [text]
    return isSentence(text) && !isThrown.test(before) && !isFrench.test(before) ? [text] : []
  })
}

const files = places
  .flatMap(filesIn)
  .filter(file => !file.endsWith('/settings.ts') && !notStored.some(name => file.startsWith(name)))

test('each sentence that the gateway stores has its French', () => {
  const all = files.flatMap(file => sentencesIn(file).map(text => `${file}: ${text}`))
  expect(all.length).toBeGreaterThan(80)
  const english = all.filter(one => {
    const text = one.slice(one.indexOf(': ') + 2)
    return storedText(text, 'fr') === text && !composed.includes(text)
  })
  expect(english).toEqual([])
})
