// The alphabet of an SMS (GSM 03.38). One character outside it would make the whole message half as long, and twice as
// dear. Those of the second table take two places.
const basic = new Set(
  '@£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
    '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
)
const extended = new Set('^{}\\[~]|€')

export const maxSeptets = 160 // of one segment

export const isGsm = (text: string) => [...text].every(one => basic.has(one) || extended.has(one))

export const septets = (text: string) => [...text].reduce((sum, one) => sum + (extended.has(one) ? 2 : 1), 0)

// What Unicode does not take apart by itself: the letters of Ghana's languages and its neighbours', and typography.
const spellings: Readonly<Record<string, string>> = {
  ...pairs('ɛeƐEɔoƆOŋnŊNɖdƉDƒfƑFɣgƔGʋvƲVɓbƁBɗdƊDƙkƘKƴyƳYǝeƎEəeƏE'),
  ...pairs('ðdÐDđdĐDłlŁLıiħhĦHŧtŦTþtÞT'),
  ...pairs("’'‘'‛'′'ʼ'`'´'“\"”\"„\"″\"«\"»\"‹'›'"),
  ...pairs('–-—-‐-‑-‒-―-−-•-·.×x⁄/'),
  œ: 'oe',
  Œ: 'OE',
  '₵': 'GHS ',
  '©': '(c)',
  '®': '(R)',
}

function pairs(text: string) {
  const all = [...text]
  return Object.fromEntries(all.flatMap((one, at) => (at % 2 === 0 ? [[one, all[at + 1] ?? '']] : [])))
}

// The same in the alphabet of an SMS. A letter without any spelling there becomes `?`; a picture vanishes.
export function toGsm(text: string): string {
  return [...text.normalize('NFC')].map(spell).join('').replace(/\s+/g, ' ').trim()
}

function spell(one: string): string {
  if (basic.has(one) || extended.has(one)) return one
  const known = spellings[one]
  if (known !== undefined) return known
  if (/\s/.test(one)) return ' '
  const apart = one.normalize('NFKD').replace(/\p{M}/gu, '')
  if (isGsm(apart)) return apart
  return /[\p{L}\p{N}]/u.test(one) ? '?' : ''
}
