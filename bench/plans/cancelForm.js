// A change of status by the customer's own hand, until the shop knows.
import { cancelling } from '../contenders/cancelling.js'
import { openCancelPlace, unknownPlace } from '../contenders/checkoutPlace.js'
import { thisVersion } from '../version.js'

const warmMs = 800
const usualCount = 128
const titled = {
  title: 'Cancel form to notification',
  about: [
    'Customers cancel stored payments by the form, one after the other, each when the shop has been told of the last; 64',
    'shops. With the page: each looks at the page of the payment first.',
  ],
}

export function cancelForm(bench, length) {
  const only = [{ id: 'new', label: '(c) as it ships', version: thisVersion }]
  return { ...section(bench, only, length, 'cancel'), ratios: [] }
}

export const cancelFormBeside = (bench, versions, length, title) => ({
  ...section(bench, versions, length, 'cancel_beside'),
  title,
  ratios: [
    { name: 'new/former, form, rate', of: 'new', to: 'former', by: 'rate', atLeast: 0.95 },
    { name: 'new/former, form, CPU', of: 'new', to: 'former', by: 'cpu' },
    { name: 'new/former, with the page, rate', of: 'new+page', to: 'former+page', by: 'rate' },
    { name: 'new/former, with the page, CPU', of: 'new+page', to: 'former+page', by: 'cpu' },
  ],
})

function section(bench, versions, { rounds, measureMs, warmUpMs = measureMs, count = usualCount }, name) {
  const all = versions.map(each => ({ ...each, place: unknownPlace() }))
  const contender = isPageSeen => {
    const [sign, words] = isPageSeen ? ['+page', ', with the page'] : ['', '']
    return ({ id, label, place }) =>
      cancelling(bench, place, { id: id + sign, label: label + words, count, isPageSeen })
  }
  const contenders = [...all.map(contender(false)), ...all.map(contender(true))]
  return {
    ...titled,
    rounds,
    job: { warmMs, measureMs },
    warmUpMs,
    contenders,
    async prepare() {
      await bench.stopGateways()
      const customers = bench.startCancellers()
      for (const { id, version, place } of all)
        await openCancelPlace(bench, place, `${name}_${id}`, version, customers)
    },
  }
}
