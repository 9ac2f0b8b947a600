import type { JSX as Html } from 'hono/jsx'

// Turns JSX into text at once, from the inside out. There are no contexts, promises or state. Everything that is not
// markup is escaped.
class Written {
  readonly html: string
  constructor(html: string) {
    this.html = html
  }
  toString() {
    return this.html
  }
}

// To TypeScript it is a string that needs no escaping.
export type Markup = string & { readonly isMarkup: true }
export type Child = Markup | string | number | bigint | boolean | null | undefined | readonly Child[]
export type PropsWithChildren<Own> = Own & { children?: Child }

type Props = Readonly<Record<string, unknown>>
type SvgElement = 'svg' | 'path' | 'rect' | 'circle' | 'text' // SVG elements
type Component = (props: Props) => Child

export declare namespace JSX {
  type Element = Markup
  type ElementType = string | ((props: never) => Child)
  interface ElementChildrenAttribute {
    children: Child
  }
  interface IntrinsicElements extends Html.IntrinsicElements, Record<SvgElement, Props> {}
}

// Only for markup that this program wrote: text from outside never passes here.
export const raw = (html: string) => new Written(html) as unknown as Markup

export function jsx(tag: string | Component, props: Props): Markup {
  if (typeof tag === 'function') return asMarkup(tag(props))
  let html = `<${tag}`
  for (const name in props) if (name !== 'children') html += attribute(name, props[name])
  return raw(voidElements.has(tag) ? `${html}/>` : `${html}>${written(props.children as Child)}</${tag}>`)
}
export const jsxs = jsx

export const Fragment = ({ children }: { children?: Child }) => children

const asMarkup = (child: Child) => (isWritten(child) ? child : raw(written(child)))

const isWritten = (child: unknown): child is Markup => child instanceof Written

export function written(child: Child): string {
  if (typeof child === 'string') return escaped(child)
  if (isWritten(child)) return (child as unknown as Written).html
  if (child === undefined || child === null || typeof child === 'boolean') return ''
  if (!Array.isArray(child)) return escaped(String(child))
  let html = ''
  for (const one of child) html += written(one as Child)
  return html
}

function attribute(name: string, value: unknown): string {
  if (value === undefined || value === null) return ''
  const prefix = prefixes.get(name) ?? attributePrefix(name)
  if (typeof value === 'string') return `${prefix}${escaped(value)}"`
  if (typeof value === 'boolean' && booleans.has(name)) return value ? `${prefix}"` : ''
  if (typeof value === 'function' || typeof value === 'symbol') throw new Error(`not an attribute: ${name}`)
  return `${prefix}${escaped(String(value))}"`
}

// Each attribute name is validated once. All names come from this program, so there are few.
const prefixes = new Map<string, string>()
const maxNames = 500

function attributePrefix(name: string): string {
  if (!/^[a-zA-Z][\w:.-]*$/.test(name)) throw new Error(`not the name of an attribute: ${name}`)
  const prefix = ` ${name}="`
  if (prefixes.size < maxNames) prefixes.set(name, prefix)
  return prefix
}

const special = /[&<>"']/
const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escaped = (text: string) =>
  special.test(text) ? text.replace(/[&<>"']/g, letter => names[letter] as string) : text

const voidElements = new Set('area base br col embed hr img input link meta wbr'.split(' '))

// Boolean attributes: present or absent. All others are written as true or false.
const booleans = new Set(
  (
    'async autofocus checked defer disabled download formnovalidate hidden multiple novalidate ' +
    'open readonly required reversed selected'
  ).split(' '),
)
