// The first rule that matches an order when it is submitted decides its outcome.
export type Traits = { number?: string; amount?: string; key?: string }
export type Rule<Story> = Traits & { times?: number; story: Story }

export type Rules<Story> = {
  add(rule: Rule<Story>): void // in front of the existing ones
  clear(): void // all added ones
  storyOf(order: Traits): Story | undefined
}

export function rulesOf<Story>(standing: readonly Rule<Story>[] = []): Rules<Story> {
  let added: Rule<Story>[] = []
  return {
    add: rule => void added.unshift({ ...rule }),
    clear: () => (added = []),
    storyOf(order) {
      const rule = [...added, ...standing].find(one => fits(one, order))
      if (rule?.times !== undefined && --rule.times <= 0) added = added.filter(one => one !== rule)
      return rule?.story
    },
  }
}

const fits = ({ number, amount, key }: Traits, order: Traits) =>
  [
    [number, order.number],
    [amount, order.amount],
    [key, order.key],
  ].every(([wanted, is]) => wanted === undefined || wanted === is)
