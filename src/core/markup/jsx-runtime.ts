import type { JSX as Html } from 'hono/jsx'

// What JSX becomes here: text, made at once from the inside out. There are no contexts, promises or states, so nothing has
// to be carried along while a page is made. Whatever is not markup itself is escaped.
class Written {
  readonly html: string
  constructor(html: string) {
    this.html = html
  }
  toString() {
    return this.html
  }
}

// Seen from outside it is a text that needs no more escaping.
export type Markup = string & { readonly isMarkup: true }
export type Child = Markup | string | number | bigint | boolean | null | undefined | readonly Child[]
export type PropsWithChildren<Own> = Own & { children?: Child }

type Props = Readonly<Record<string, unknown>>
type Drawn = 'svg' | 'path' | 'rect' | 'circle' | 'text' // what pictures are made of
type Component = (props: Props) => Child

export declare namespace JSX {
  type Element = Markup
  type ElementType = string | ((props: never) => Child)
  interface ElementChildrenAttribute {
    children: Child
  }
  interface IntrinsicElements extends Html.IntrinsicElements, Record<Drawn, Props> {}
}

// Of our own making: what comes from elsewhere never goes through here.
export const raw = (html: string) => new Written(html) as unknown as Markup

export function jsx(tag: string | Component, props: Props): Markup {
  if (typeof tag === 'function') return asMarkup(tag(props))
  let html = `<${tag}`
  for (const name in props) if (name !== 'children') html += attribute(name, props[name])
  return raw(voids.has(tag) ? `${html}/>` : `${html}>${written(props.children as Child)}</${tag}>`)
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
  const begun = beginnings.get(name) ?? begin(name)
  if (typeof value === 'string') return `${begun}${escaped(value)}"`
  if (typeof value === 'boolean' && switches.has(name)) return value ? `${begun}"` : ''
  if (typeof value === 'function' || typeof value === 'symbol') throw new Error(`not an attribute: ${name}`)
  return `${begun}${escaped(String(value))}"`
}

// Each name is looked at once. They are those that stand in our own pages, so they are few.
const beginnings = new Map<string, string>()
const mostNames = 500

function begin(name: string): string {
  if (!/^[a-zA-Z][\w:.-]*$/.test(name)) throw new Error(`not the name of an attribute: ${name}`)
  const begun = ` ${name}="`
  if (beginnings.size < mostNames) beginnings.set(name, begun)
  return begun
}

const special = /[&<>"']/
const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escaped = (text: string) =>
  special.test(text) ? text.replace(/[&<>"']/g, letter => names[letter] as string) : text

const voids = new Set(['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'wbr'])

// Attributes that are there or not; all others say true or false.
const switches = new Set([
  'async',
  'autofocus',
  'checked',
  'defer',
  'disabled',
  'download',
  'formnovalidate',
  'hidden',
  'multiple',
  'novalidate',
  'open',
  'readonly',
  'required',
  'reversed',
  'selected',
])
