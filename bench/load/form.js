// Just enough of a browser: what a page loads, and the form that it would send when nothing on it was touched.
const attribute = (tag, name) => {
  const found = new RegExp(`\\s${name}(?:="([^"]*)")?(?=[\\s/>])`).exec(tag)
  return found ? unescape(found[1] ?? '') : undefined
}
const tags = (html, name) => html.match(new RegExp(`<${name}(?=[\\s>])[^>]*>`, 'g')) ?? []

const entities = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
const unescape = text => text.replace(/&(#?\w+);/g, (whole, name) => entities[name] ?? whole)

// The files that are fetched with the page, in its own order.
export function filesOf(html) {
  const links = tags(html, 'link').filter(tag => /^(stylesheet|icon|preload)$/.test(attribute(tag, 'rel')))
  const addresses = [
    ...links.map(tag => attribute(tag, 'href')),
    ...[...tags(html, 'script'), ...tags(html, 'img')].map(tag => attribute(tag, 'src')),
  ]
  return [...new Set(addresses.filter(address => address?.startsWith('/')))]
}

// Of the form that is posted to an address with this end: where it goes, and its fields as a browser sends them.
export function formOf(html, end) {
  for (const [whole, opening] of html.matchAll(/(<form[^>]*>).*?<\/form>/gs)) {
    const action = attribute(opening, 'action')
    if (!action?.split('?')[0].endsWith(end)) continue
    const sent = tags(whole, 'input').filter(
      tag => !/^(radio|checkbox)$/.test(attribute(tag, 'type')) || attribute(tag, 'checked') !== undefined,
    )
    return { action, fields: sent.map(tag => [attribute(tag, 'name'), attribute(tag, 'value') ?? '']) }
  }
  throw new Error(`The page has no form for ${end}: ${html}`)
}
